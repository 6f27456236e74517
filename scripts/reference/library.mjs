import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';
import { banner, code, table } from './markdown.mjs';

/** The doors of the package besides the main one: what each is of, and the file that it exports. */
const DOORS = [
  [
    'setpoint/watch',
    'src/controller/index.ts',
    'What `setpoint watch` runs, without its page and its notices.',
  ],
  [
    'setpoint/emulator',
    'src/emulator/index.ts',
    'The embedded service alone, which loads nothing else of setpoint.',
  ],
];

/**
 * docs/reference/library.md: what the doors of the package export, with the comments of the declarations. Read from the syntax alone, so
 * that it takes no type checker.
 */
export function libraryPage(root) {
  const { functions, requests, others, rest } = exportsByKind(join(root, 'src/index.ts'));
  return [
    banner('the exports of src/index.ts, src/controller/index.ts and src/emulator/index.ts'),
    '# Library\n',
    'ES modules and CommonJS, with types for both. Nothing is printed, and no part of the process is read or changed: environment variables, clock and',
    'network are handed in. [The library](../guides/library.md) shows how to use it. A function throws a `SetpointError` if nothing could',
    'be begun; after that, what went wrong is in the document that it returns, as `status` and `error` of each environment. What',
    '`setpoint` exports comes first, then what `setpoint/watch` and `setpoint/emulator` do.\n',
    '## Functions\n',
    ...functions.map(functionSection),
    '## Requests\n',
    ...requests.map(requestSection),
    '## Classes and constants\n',
    ...others.map(declarationSection),
    '## Types\n',
    'The documents are described member by member in [JSON documents](documents.md).\n',
    typesTable(rest),
    '',
    ...DOORS.flatMap(([door, file, about]) => doorSection(door, join(root, file), about)),
  ].join('\n');
}

function doorSection(door, path, about) {
  const { functions, requests, others, rest } = exportsByKind(path);
  return [
    `## ${door}\n`,
    `${about}\n`,
    ...functions.map(functionSection),
    ...requests.map(requestSection),
    '### Types\n',
    typesTable([...others, ...rest]),
    '',
  ];
}

function exportsByKind(path) {
  const exported = exportsOf(path, new Map());
  assertDescribed(exported);
  const of = (...kinds) => exported.filter(({ node }) => kinds.some((is) => is(node)));
  const types = of(ts.isInterfaceDeclaration, ts.isTypeAliasDeclaration);
  const requests = types.filter(({ name }) => /(Options|Request)$/.test(name));
  return {
    functions: of(ts.isFunctionDeclaration),
    others: of(ts.isClassDeclaration, ts.isVariableStatement),
    requests,
    rest: types.filter((type) => !requests.includes(type)),
  };
}

/** Throws for an export, or a public member of one, that an editor has no words to show for. */
function assertDescribed(exported) {
  const without = exported.flatMap(({ name, node }) => {
    const members = (node.members ?? node.type?.members ?? []).filter(
      (member) => member.name !== undefined && !ts.isPrivateIdentifier(member.name),
    );
    return [
      ...(docOf(node) === '' ? [name] : []),
      ...members.flatMap((one) => (docOf(one) === '' ? [`${name}.${one.name.getText()}`] : [])),
    ];
  });
  if (without.length > 0) throw new Error(`Describe these exports: ${without.join(', ')}.`);
}

function typesTable(types) {
  return table(
    ['type', 'what it is'],
    types.map(({ name, node }) => [code(name), docOf(node)]),
  );
}

/** Every exported name with its declaration, re-exports followed. */
function exportsOf(path, files) {
  return statementsOf(path, files).flatMap((statement) => {
    if (!ts.isExportDeclaration(statement) || statement.moduleSpecifier === undefined) return [];
    const target = join(dirname(path), statement.moduleSpecifier.text);
    return statement.exportClause.elements.map((element) => ({
      name: element.name.text,
      node: declarationOf(target, (element.propertyName ?? element.name).text, files),
    }));
  });
}

function declarationOf(path, name, files) {
  for (const statement of statementsOf(path, files)) {
    if (statement.name?.text === name) return statement;
    const isNamed = ({ name: own }) => own.getText() === name;
    if (ts.isVariableStatement(statement) && statement.declarationList.declarations.some(isNamed))
      return statement;
  }
  const again = exportsOf(path, files).find((exported) => exported.name === name);
  if (again === undefined) throw new Error(`${relative('.', path)} declares no ${name}`);
  return again.node;
}

function statementsOf(path, files) {
  const known = files.get(path) ?? parse(path);
  files.set(path, known);
  return known.statements;
}

function parse(path) {
  return ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
}

/** The comment of a declaration as one paragraph. */
function docOf(node) {
  const doc = ts.getJSDocCommentsAndTags(node).find(ts.isJSDoc);
  const text = ts.getTextOfJSDocComment(doc?.comment) ?? '';
  return text
    .replace(/\s*\bSource: [^]*$/, '')
    .replace(/\n+- /g, '<br>')
    .replace(/\s+/g, ' ')
    .trim();
}

function functionSection({ name, node }) {
  const { parameters, type, typeParameters } = node;
  const generic = typeParameters
    ? `<${typeParameters.map((one) => one.getText()).join(', ')}>`
    : '';
  const taken = parameters
    .map((one) =>
      one
        .getText()
        .replaceAll(/\s*([<>])\s*/g, '$1')
        .replace(/\s+/g, ' '),
    )
    .join(', ');
  const signature = `${name}${generic}(${taken}): ${type?.getText() ?? 'unknown'}`;
  return `### ${name}\n\n\`\`\`ts\n${signature.replaceAll(/,\s*\)/g, ')')}\n\`\`\`\n\n${docOf(node)}\n`;
}

function requestSection({ name, node }) {
  const above = (node.heritageClauses ?? []).flatMap(({ types }) =>
    types.map((one) =>
      one
        .getText()
        .replaceAll(/\s*([<>])\s*/g, '$1')
        .replace(/\s+/g, ' '),
    ),
  );
  const isPublic = (member) =>
    !ts.getJSDocTags(member).some(({ tagName }) => tagName.text === 'internal');
  const members = (node.members ?? [])
    .filter(isPublic)
    .map((member) => [
      code(`${member.name.getText()}${member.questionToken ? '?' : ''}`),
      code(typeText(member)),
      docOf(member),
    ]);
  const takes =
    above.length === 0 ? '' : `Everything of ${above.map(code).join(' and ')}, and:\n\n`;
  return [
    `### ${name}\n`,
    `${[docOf(node), `${takes}${table(['member', 'type', 'meaning'], members)}`].filter(Boolean).join('\n\n')}\n`,
  ].join('\n');
}

function typeText({ type }) {
  return (type?.getText() ?? 'unknown').replace(/\s+/g, ' ').replace(/ \| undefined$/, '');
}

/** A class or constant: its comment, and the public part of the declaration. */
function declarationSection({ name, node }) {
  const members = (node.members ?? [])
    .filter((member) => ts.isPropertyDeclaration(member) || ts.isConstructorDeclaration(member))
    .map((member) => `  ${headOf(member)};`);
  const shown =
    members.length === 0 ? '' : `\`\`\`ts\nclass ${name} {\n${members.join('\n')}\n}\n\`\`\`\n\n`;
  return `### ${name}\n\n${shown}${docOf(node)}\n`;
}

/** A member without its body. */
function headOf(member) {
  const text = member.getText();
  const end = member.body === undefined ? text.length : member.body.getStart() - member.getStart();
  return text.slice(0, end).replace(/\s+/g, ' ').replace(/;? *$/, '');
}
