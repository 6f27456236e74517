import { banner, code, prose, sentence, table } from './markdown.mjs';

/** docs/reference/github-action.md, from action.yml and the reusable workflows. */
export function actionPage(action, workflows) {
  const inputs = Object.entries(action.inputs).map(([name, input]) => [
    `${code(name)}${input.required ? ' (required)' : ''}`,
    input.default === undefined ? '' : code(input.default),
    prose(sentence(input.description)),
  ]);
  const outputs = Object.entries(action.outputs).map(([name, output]) => [
    code(name),
    prose(sentence(output.description)),
  ]);
  return [
    banner('action.yml and .github/workflows'),
    '# GitHub Action and workflows\n',
    'The guides show how they fit together: [apply in a pipeline](../guides/pipeline.md), [plan on pull requests](../guides/pull-requests.md),',
    '[drift on a schedule](../guides/drift.md).\n',
    '## Inputs of the Action\n',
    table(['input', 'default', 'meaning'], inputs),
    '',
    '## Outputs of the Action\n',
    table(['output', 'meaning'], outputs),
    '',
    ...workflows.flatMap(([file, workflow]) => [
      `## Inputs of ${file}\n`,
      table(['input', 'default', 'meaning'], workflowInputs(workflow)),
      '',
    ]),
  ].join('\n');
}

function workflowInputs(workflow) {
  return Object.entries(workflow.on.workflow_call.inputs).map(([name, input]) => [
    `${code(name)}${input.required ? ' (required)' : ''}`,
    input.default === undefined || input.default === '' ? '' : code(String(input.default)),
    prose(sentence(input.description)),
  ]);
}
