/** An editor shows a text for everything that the doors of the library export, and for each of its members. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';

const DIST = join(import.meta.dirname, '../../dist');
const DOORS = ['index', 'controller/index', 'emulator/index'].map((door) =>
  join(DIST, `${door}.d.cts`),
);
const program = ts.createProgram(DOORS, {
  module: ts.ModuleKind.Node16,
  moduleResolution: ts.ModuleResolutionKind.Node16,
  skipLibCheck: true,
});
const checker = program.getTypeChecker();

function isDescribed(symbol: ts.Symbol): boolean {
  return ts.displayPartsToString(symbol.getDocumentationComment(checker)).trim() !== '';
}

/** The members that a declaration writes in place: of an interface, a class, or a type of one or several forms. */
function listMembers(node: ts.Node): readonly (ts.TypeElement | ts.ClassElement)[] {
  if (ts.isInterfaceDeclaration(node) || ts.isClassDeclaration(node)) return [...node.members];
  if (ts.isTypeAliasDeclaration(node)) return listMembers(node.type);
  if (ts.isTypeLiteralNode(node)) return [...node.members];
  if (ts.isParenthesizedTypeNode(node)) return listMembers(node.type);
  const isOfSeveral = ts.isUnionTypeNode(node) || ts.isIntersectionTypeNode(node);
  return isOfSeveral ? node.types.flatMap(listMembers) : [];
}

function listExports(door: string): readonly ts.Symbol[] {
  const source = program.getSourceFile(door);
  const module = source === undefined ? undefined : checker.getSymbolAtLocation(source);
  if (module === undefined) throw new Error(`${door} is not built.`);
  return checker
    .getExportsOfModule(module)
    .map((symbol) =>
      (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol),
    );
}

it.runIf(existsSync(DIST)).each(DOORS)('%s', (door) => {
  const symbols = listExports(door);
  const members = symbols.flatMap((symbol) =>
    (symbol.declarations ?? []).flatMap(listMembers).flatMap(({ name }) => {
      if (name === undefined || !ts.isIdentifier(name)) return [];
      const member = checker.getSymbolAtLocation(name);
      return member === undefined ? [] : [[`${symbol.name}.${member.name}`, member] as const];
    }),
  );
  const all = [...symbols.map((symbol) => [symbol.name, symbol] as const), ...members];
  expect(all.length).toBeGreaterThan(10);
  expect(all.flatMap(([name, symbol]) => (isDescribed(symbol) ? [] : [name]))).toEqual([]);
});
