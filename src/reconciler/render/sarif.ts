import { createHash } from 'node:crypto';
import { DIAGNOSTICS, type DiagnosticCode } from '../model/diagnostic.ts';
import type { DiagnosticReport, ValidationDocument } from '../model/documents.gen.ts';
import { TOOL } from '../model/version.ts';
import { renderJson } from './json.ts';
import { visible } from './text.ts';

const SCHEMA =
  'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json';

/** The problems that `validate` found as SARIF 2.1.0, for code scanning: a rule for every code that occurs, a result for each. */
export function validationSarif({ diagnostics }: ValidationDocument): string {
  const codes = [...new Set(diagnostics.map(({ code }) => code))].toSorted();
  const prints = fingerprints(diagnostics);
  return renderJson({
    $schema: SCHEMA,
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: TOOL.name, version: TOOL.version, rules: codes.map(rule) } },
        columnKind: 'utf16CodeUnits',
        results: diagnostics.map((diagnostic, index) => ({
          ruleId: diagnostic.code,
          ruleIndex: codes.indexOf(diagnostic.code),
          level: diagnostic.severity,
          message: { text: messageText(diagnostic) },
          locations: [location(diagnostic)],
          partialFingerprints: { primaryLocationLineHash: prints[index] },
        })),
      },
    ],
  });
}

function rule(code: DiagnosticCode): object {
  return { id: code, shortDescription: { text: DIAGNOSTICS[code] } };
}

/** A message must not contain a link: `[text](address)` is broken up. */
function messageText({ message, hint }: DiagnosticReport): string {
  return visible(`${message} ${hint}`).replaceAll('](', '] (');
}

function location({ file, line, column }: DiagnosticReport): object {
  return {
    physicalLocation: {
      artifactLocation: { uri: artifactUri(file) },
      region: { startLine: line, startColumn: column },
    },
  };
}

/** Identifies a problem whatever line it moves to: by code, file and path, and a number among those alike. */
function fingerprints(diagnostics: readonly DiagnosticReport[]): string[] {
  const seen = new Map<string, number>();
  return diagnostics.map(({ code, file, path }) => {
    const hash = createHash('sha256')
      .update(JSON.stringify([code, file, path]))
      .digest('hex');
    const nth = (seen.get(hash) ?? 0) + 1;
    seen.set(hash, nth);
    return `${hash.slice(0, 16)}:${nth}`;
  });
}

/** A path as a URI reference: relative if the path is, with forward slashes, all else percent-encoded. */
export function artifactUri(path: string): string {
  const drive = /^[A-Za-z]:[\\/]/.test(path);
  const segments = path.replaceAll('\\', '/').split('/').map(encodeSegment);
  const uri = segments.join('/');
  if (drive) return `file:///${uri}`;
  return uri.startsWith('/') ? `file://${uri}` : uri;
}

function encodeSegment(segment: string): string {
  return encodeURIComponent(Buffer.from(segment).toString());
}
