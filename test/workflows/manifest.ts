import { join } from 'node:path';
import ts from 'typescript';
import { parse } from 'yaml';

/** Files of the compiler's library and of the types, parsed once. */
const PARSED = new Map<string, ts.SourceFile | undefined>();

/** What the compiler reports of a manifest by the types of Kubernetes: misspelt keys, wrong types, what is missing. */
export function mistakesIn(yaml: string, [group, kind] = ['batch', 'CronJob']): readonly string[] {
  const name = join(import.meta.dirname, 'manifest.ts');
  const code = `import type { ${kind} } from 'kubernetes-types/${group}/v1.js';
export const manifest: ${kind} = ${JSON.stringify(parse(yaml))};
`;
  const options: ts.CompilerOptions = {
    noEmit: true,
    strict: true,
    skipLibCheck: true,
    types: [],
    lib: ['lib.es2022.d.ts'],
  };
  const host = ts.createCompilerHost(options);
  const [exists, source] = [host.fileExists.bind(host), host.getSourceFile.bind(host)];
  host.fileExists = (path) => path === name || exists(path);
  host.getSourceFile = (path, version, ...rest) => {
    if (path === name) return ts.createSourceFile(name, code, version);
    if (!PARSED.has(path)) PARSED.set(path, source(path, version, ...rest));
    return PARSED.get(path);
  };
  const program = ts.createProgram([name], options, host);
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}
