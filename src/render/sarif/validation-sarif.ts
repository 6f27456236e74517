import { createHash } from 'node:crypto';
import { DIAGNOSTICS, type DiagnosticCode } from '../../model/diagnostic.ts';
import type { DiagnosticReport, ValidationDocument } from '../../model/validation.ts';
import { TOOL } from '../../model/version.ts';
import { json } from '../json.ts';
import { visible } from '../visible.ts';
import { artifactUri } from './artifact-uri.ts';

const SCHEMA =
  'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json';

/** What `validate` found as SARIF 2.1.0, for code scanning: a rule for every code that occurs, a result for every problem. */
export function validationSarif({ diagnostics }: ValidationDocument): string {
  const codes = [...new Set(diagnostics.map(({ code }) => code))].toSorted();
  const prints = fingerprints(diagnostics);
  return json({
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

/** `[text](address)` would be a link in a message: the two are kept apart. */
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

/** What a problem is known by when lines above it come and go: code, file and path, and which of those alike it is. */
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
