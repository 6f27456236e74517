// The generated pages of docs, from the code and the schemas: path → text.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { actionPage } from './action.mjs';
import { commandsPage, diagnosticsPage, exitCodesPage } from './commands.mjs';
import { documentsPage } from './documents.mjs';
import { libraryPage } from './library.mjs';
import { metricsPage } from './metrics.mjs';
import { settingsPage } from './settings.mjs';
import { variablesPage } from './variables.mjs';

const WORKFLOWS = ['plan.yml', 'apply.yml', 'drift.yml'];

/** `schema` is that of settings.yaml, `program` the command line as commander has it, `tables` those of src/reconciler/model. */
export function referencePages(root, schema, program, tables) {
  const read = (path) => readFileSync(join(root, path), 'utf8');
  const schemas = readdirSync(join(root, 'schemas'))
    .filter((file) => file.endsWith('.schema.json'))
    .map((file) => [file.replace('.schema.json', ''), JSON.parse(read(`schemas/${file}`))])
    .filter(([name]) => name !== 'settings');
  const workflows = WORKFLOWS.map((file) => [file, parse(read(`.github/workflows/${file}`))]);
  const pages = {
    commands: commandsPage(program),
    'exit-codes': exitCodesPage(
      program,
      tables.ERRORS,
      JSON.parse(read('scripts/reference/errors.json')),
    ),
    metrics: metricsPage(tables),
    settings: settingsPage(schema),
    'environment-variables': variablesPage(root),
    documents: documentsPage(schemas),
    'github-action': actionPage(parse(read('action.yml')), workflows),
    library: libraryPage(root),
  };
  return {
    // Its address was published before the reference had a folder.
    'docs/diagnostics.md': diagnosticsPage(tables.DIAGNOSTICS),
    ...Object.fromEntries(
      Object.entries(pages).map(([name, text]) => [`docs/reference/${name}.md`, text]),
    ),
  };
}
