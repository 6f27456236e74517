/*
 * Labels of environments have the form of Kubernetes' labels. schemas/settings.schema.json has the same patterns, for editors
 * and for the check of a file.
 */

const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const DOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LONGEST_KEY = 253 + 1 + 63;

/** What a value may be made of, and a key, in words. */
export const VALUE_FORM = 'at most 63 letters, digits, dots, - and _';
export const KEY_FORM = `${VALUE_FORM}, a letter or digit first and last: ring, or example.com/ring`;

/** Whether a text has the form of a label's key: a name, or a domain in lower case, a slash and a name. */
export function isLabelKey(text: string): boolean {
  const slash = text.indexOf('/');
  const name = text.slice(slash + 1);
  return (
    text.length <= LONGEST_KEY &&
    NAME.test(name) &&
    (slash === -1 || DOMAIN.test(text.slice(0, slash)))
  );
}

/** Whether a text has the form of a label's value. */
export function isLabelValue(text: string): boolean {
  return text === '' || NAME.test(text);
}
