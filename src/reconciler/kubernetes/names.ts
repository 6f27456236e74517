/** The name of an object for an environment, by RFC 1123; empty if none of its characters may be in one. */
export function createObjectName(environment: string): string {
  return environment
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]+/g, '-')
    .replaceAll(/-*\.[.-]*/g, '.')
    .replaceAll(/^[.-]+|[.-]+$/g, '');
}

/** Reports whether an object may have a name, by RFC 1123. */
export function isObjectName(name: string): boolean {
  return (
    name.length <= 253 &&
    /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(name)
  );
}

/** A member of settings.yaml as Kubernetes spells it. */
export function camelCase(name: string): string {
  return name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
/** The member of settings.yaml that is so spelled. */
export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
