import { dirname, relative, resolve } from 'node:path';
import type { Node, SourceFile } from 'typescript/unstable/ast';
import {
  isBlock,
  isCallExpression,
  isExportDeclaration,
  isFunctionLikeDeclaration,
  isImportDeclaration,
  isImportExpression,
  isImportTypeNode,
  isInterfaceDeclaration,
  isLiteralTypeNode,
  isStringLiteral,
  isVariableDeclaration,
} from 'typescript/unstable/ast/is';
import { API } from 'typescript/unstable/sync';

/** A function with more lines is long. */
export const LONG = 60;

/** A function with a body in braces. */
export interface MeasuredFunction {
  readonly name: string;
  readonly file: string;
  readonly lines: number;
}

/** An interface with functions in it: what one part may use of others. */
export interface MeasuredInterface {
  readonly name: string;
  readonly file: string;
  readonly members: number;
}

/** One of the program's files, parsed by the compiler. Paths are relative to the project. */
export interface Source {
  readonly file: string;
  readonly text: string;
  readonly lines: number;
  readonly functions: readonly MeasuredFunction[];
  readonly interfaces: readonly MeasuredInterface[];
  /** Its imports of our modules, including types and dynamic imports. */
  readonly imports: readonly string[];
  /** Those of them that are evaluated on demand. */
  readonly onDemand: readonly string[];
  /** The names it declares and exports. */
  readonly exports: readonly string[];
}

/** The files of these folders, parsed by the TypeScript compiler. This is its only API, and it may change. */
export function readSources(folders: readonly string[]): readonly Source[] {
  const api = new API({ cwd: process.cwd() });
  try {
    const snapshot = api.updateSnapshot({ openProjects: [resolve('tsconfig.json')] });
    return snapshot.getProjects().flatMap(({ rootFiles, program }) =>
      rootFiles
        .map((path) => [relative('.', path), program.getSourceFile(path)] as const)
        .filter(([file]) => folders.some((folder) => file.startsWith(`${folder}/`)))
        .flatMap(([file, source]) => (source === undefined ? [] : [read(file, source)])),
    );
  } finally {
    api.close();
  }
}

function read(file: string, source: SourceFile): Source {
  const functions: MeasuredFunction[] = [];
  const interfaces: MeasuredInterface[] = [];
  const imports = new Set<string>();
  const onDemand: string[] = [];
  const visit = (node: Node): void => {
    if (isFunctionLikeDeclaration(node) && node.body !== undefined && isBlock(node.body)) {
      const line = (position: number): number => source.getLineAndCharacterOfPosition(position).line;
      functions.push({ name: nameOf(node), file, lines: line(node.end) - line(node.getStart(source)) + 1 });
    }
    const specifier = specifierOf(node);
    if (specifier?.startsWith('.')) {
      const imported = relative('.', resolve(dirname(file), specifier)).replace(/\.js$/, '.ts');
      imports.add(imported);
      if (isCallExpression(node)) onDemand.push(imported);
    }
    if (isInterfaceDeclaration(node) && node.members.some((member) => /^[^:]*\(|=>/.test(member.getText())))
      interfaces.push({ name: node.name.text, file, members: node.members.length });
    node.forEachChild(visit);
  };
  visit(source);
  const lines = source.text.split('\n').length - 1;
  const exports = exportsOf(source.text);
  return { file, text: source.text, lines, functions, interfaces, imports: [...imports], onDemand, exports };
}

function nameOf(node: Node): string {
  if ('name' in node && isNode(node.name)) return node.name.getText();
  const parent = node.parent;
  return isVariableDeclaration(parent) ? parent.name.getText() : '(without a name)';
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'kind' in value && 'getText' in value;
}

/** The module that an import or a re-export names, in any of the four forms. */
function specifierOf(node: Node): string | null {
  const named = (other: Node | undefined): string | null => (other && isStringLiteral(other) ? other.text : null);
  if (isImportDeclaration(node) || isExportDeclaration(node)) return named(node.moduleSpecifier);
  if (isCallExpression(node) && isImportExpression(node.expression)) return named(node.arguments[0]);
  if (isImportTypeNode(node) && isLiteralTypeNode(node.argument)) return named(node.argument.literal);
  return null;
}

function exportsOf(text: string): readonly string[] {
  const declared =
    /^export (?:declare )?(?:async )?(?:abstract )?(?:const|function\*?|class|interface|type|enum) (\w+)/gm;
  return [...new Set([...text.matchAll(declared)].map(([, name = '']) => name))];
}
