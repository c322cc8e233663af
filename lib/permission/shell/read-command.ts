import type {
  Assignment,
  Command,
  ParameterExpansionPart,
  ParsedScript,
  Redirection,
  SyntaxNode,
  TestExpression,
  Word,
} from 'unbash';
import {
  hasOnlyBashSyntax,
  isOnlyBash,
  type NestedCommand,
  nestedCommand,
  parsedDifferently,
  type Uncertainty,
  ZSH_VARIABLES,
} from './nested-command.js';
import { type ShellName, type ShellWord, shellWord } from './shell-word.js';

/** One action of a command line, which needs permission of its own. */
export type ShellPart =
  | {
      readonly kind: 'command';
      readonly text: string;
      /** Variables set for this command only. */
      readonly assignments: readonly ShellWord[];
      /** The program and its arguments. */
      readonly words: readonly ShellWord[];
      /** The nested commands: those that this one runs (`env`, `xargs`, `bash -c`), and where in `words` they begin. */
      readonly inner: { readonly start: number; readonly parts: readonly ShellPart[] } | null;
      readonly uncertainty: Uncertainty | null;
    }
  | { readonly kind: 'file'; readonly text: string; readonly use: 'read' | 'write'; readonly path: string }
  /** Something whose effect the text does not show. No prefix rule covers it. */
  | { readonly kind: 'unclear'; readonly text: string; readonly reason: string; readonly mayHideCommands: boolean };

/** A parsed command line. */
interface ShellReading {
  readonly parts: readonly ShellPart[];
  /** Every word in it, in any position. */
  readonly words: readonly ShellWord[];
}

/** Commands that are nested more deeply are not parsed and need approval. */
const MAX_DEPTH = 8;

// Characters that the screen does not show, or shows in another order than bash reads them (CVE-2021-42574, "Trojan
// Source").
const HIDDEN = /(?![\n\t ])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Z}\u115f\u1160\u3164\uffa0]/u;

/** Builtins that set the variables whose names they are given. */
const NAME_SETTERS = new Set(['read', 'mapfile', 'readarray', 'getopts', 'wait']);

const BLANK_OR_COMMENT = /^[ \t]*(#.*)?$/;

/**
 * Parses a command line for `shell`, with its substitutions, here-documents and function bodies. Syntax that only bash
 * understands counts as unclear in any other shell. The first call loads the parser.
 */
export async function readCommand(
  source: string,
  environment: Readonly<Record<string, string | undefined>>,
  shell: ShellName = 'bash',
): Promise<ShellReading> {
  const { forEachChild, parse } = await import('unbash');
  const reader = new Reader({ parse, forEachChild }, environment, shell);
  if (HIDDEN.test(source)) reader.unclear(source, 'it contains invisible characters', true);
  reader.read(source, 0);
  const names = reader.parts.some((part) => part.kind === 'command');
  if (!names && !source.split('\n').every((line) => BLANK_OR_COMMENT.test(line)))
    reader.unclear(source, 'no command is recognised in it', true);
  return reader;
}

interface Parser {
  parse(source: string): ParsedScript;
  forEachChild(node: SyntaxNode, callback: (child: SyntaxNode) => void): void;
}

class Reader implements ShellReading {
  parts: ShellPart[] = [];
  readonly words: ShellWord[] = [];
  readonly #parser: Parser;
  readonly #environment: Readonly<Record<string, string | undefined>>;
  /** The shell that runs the text being read. */
  #shell: ShellName;

  constructor(parser: Parser, environment: Readonly<Record<string, string | undefined>>, shell: ShellName) {
    this.#parser = parser;
    this.#environment = environment;
    this.#shell = shell;
  }

  /** `mayHideCommands`: whether it may contain commands that the parser does not see. */
  unclear(text: string, reason: string, mayHideCommands = false): void {
    this.parts.push({ kind: 'unclear', text, reason, mayHideCommands });
  }

  read(source: string, depth: number): void {
    if (this.#shell !== 'bash' && hasOnlyBashSyntax(source)) this.unclear(source, parsedDifferently(this.#shell), true);
    if (depth > MAX_DEPTH) this.unclear(source, 'it is nested too deeply', true);
    else this.#visit(this.#parser.parse(source), source, depth);
  }

  #visit(node: SyntaxNode, source: string, depth: number): void {
    const text = source.slice(node.pos, node.end);
    const into = node.type === 'Script' ? (node.source ?? source) : source;
    const reason = uncertaintyAbout(node);
    if (reason !== null) this.unclear(text, reason, true);
    const missing = unreadable(node);
    if (missing !== null) this.unclear(text, missing, true);
    if (this.#shell !== 'bash' && isOnlyBash(node)) this.unclear(text, parsedDifferently(this.#shell), true);
    if (node.type === 'Command') this.#command(node, text, depth);
    if (node.type === 'Redirect' || node.type === 'HereString' || node.type === 'HereDoc') this.#redirect(node, text);
    if (node.type === 'For' || node.type === 'Select') this.#assign(node.name.value, text);
    if (node.type === 'ParameterExpansion' && assigns(node)) this.#assign(node.parameter, text);
    if (node.type === 'Word') this.words.push(shellWord(node));
    this.#parser.forEachChild(node, (child) => this.#visit(child, into, depth));
  }

  #command({ name, prefix, args }: Command, text: string, depth: number): void {
    const assignments = prefix.filter((part): part is Assignment => part.type === 'Assignment');
    if (name === undefined) {
      for (const assignment of assignments) this.#assign(assignment.name, text);
      return;
    }
    this.#add(text, assignments.map(argument), [shellWord(name), ...args.map(argument)], depth);
  }

  #add(text: string, assignments: readonly ShellWord[], words: readonly ShellWord[], depth: number): void {
    const run = nestedCommand(words);
    if (NAME_SETTERS.has(words[0]?.value ?? ''))
      for (const { value } of words.slice(1))
        if (value !== null && this.#isOfPrograms(value)) this.#assign(value, text);
    const uncertainty = run.kind === 'unclear' ? run : null;
    this.parts.push({ kind: 'command', text, assignments, words, inner: this.#inner(run, depth + 1), uncertainty });
  }

  #inner(run: NestedCommand, depth: number) {
    if (run.kind !== 'words' && run.kind !== 'script') return null;
    const [outer, shell] = [this.parts, this.#shell];
    this.parts = [];
    if (run.kind === 'script') {
      this.#shell = run.shell ?? shell;
      this.read(run.script, depth);
      this.#shell = shell;
    } else if (depth > MAX_DEPTH) this.unclear(textOf(run.words), 'it is nested too deeply', true);
    else this.#add(textOf([...run.assignments, ...run.words]), run.assignments, run.words, depth);
    const inner = { start: run.start, parts: this.parts };
    this.parts = outer;
    return inner;
  }

  /**
   * A variable that only the shell line uses is harmless; one that bash or other programs read may change what runs.
   */
  #assign(name: string, text: string): void {
    const isOfZsh = this.#shell !== 'bash' && ZSH_VARIABLES.test(name);
    if (/^[a-z_][a-z0-9_]*$/.test(name) && !isOfZsh && !this.#isOfPrograms(name)) return;
    this.unclear(text, `it sets ${name}, which may change what runs`, true);
  }

  #isOfPrograms(name: string): boolean {
    return this.#environment[name] !== undefined;
  }

  #redirect(redirect: Redirection, text: string): void {
    if (redirect.type !== 'Redirect') return;
    const { operator, target, descriptor } = redirect;
    if (descriptor?.type === 'FileDescriptorVariable') this.#assign(descriptor.name, text);
    const path = target === undefined ? null : shellWord(target).value;
    const isDescriptor = (operator === '>&' || operator === '<&') && path !== null && /^(\d+-?|-)$/.test(path);
    if (isDescriptor) return;
    if (path === null) this.unclear(text, 'it is unclear which file it redirects to');
    else if (operator === '<' || operator === '<&') this.parts.push({ kind: 'file', text, use: 'read', path });
    else this.parts.push({ kind: 'file', text, use: 'write', path });
  }
}

function textOf(words: readonly ShellWord[]): string {
  return words.map((word) => word.text).join(' ');
}

function argument(part: Word | Assignment): ShellWord {
  if (part.type === 'Word') return shellWord(part);
  const { value } = part;
  const known = value.type === 'Word' && part.index === undefined ? shellWord(value).value : null;
  const sign = part.append ? '+=' : '=';
  return { text: part.text, value: known === null ? null : part.name + sign + known, mayBeOption: false };
}

/** Why the parser could not read a node; null if it could. */
function unreadable(node: SyntaxNode): string | null {
  switch (node.type) {
    case 'Script':
      return 'errors' in node && node.errors?.length ? `it cannot be parsed (${node.errors[0]?.message})` : null;
    case 'CommandExpansion':
    case 'ProcessSubstitution':
    case 'ArithmeticCommandExpansion':
      return node.script === undefined ? 'a command in it cannot be parsed' : null;
    // The parser takes the slash of ${x/$(/bin/date)/} for the end of the pattern and never sees the command.
    case 'ParameterExpansion':
      return /\$\(|`|[<>]\(/.test(node.text) ? 'a command in it cannot be parsed' : null;
    default:
      return null;
  }
}

/** Why the effect of a construct is unclear; null where its parts show it. */
function uncertaintyAbout(node: SyntaxNode): string | null {
  switch (node.type) {
    // A variable in arithmetic is evaluated, and its value may contain a command: x='a[$(date)]'; echo $((x)).
    case 'ArithmeticWord':
      return /^\d*$/.test(node.value) ? null : 'it calculates with a variable';
    case 'ArithmeticExpansion':
    case 'ArithmeticCommand':
      return node.expression === undefined ? 'it calculates something that cannot be parsed' : null;
    case 'ParameterExpansion':
      return uncertaintyAboutParameter(node);
    case 'TestUnary':
    case 'TestBinary':
      return uncertaintyAboutTest(node);
    case 'Assignment':
      return node.index === undefined || isNumber(node.index) ? null : 'it calculates an index';
    case 'ExtendedGlob':
      return 'shells parse its pattern differently';
    case 'Coproc':
      return 'it starts a coprocess';
    default:
      return null;
  }
}

const isNumber = (word: Word | undefined): boolean => word === undefined || /^\d+$/.test(shellWord(word).value ?? '');

function uncertaintyAboutParameter({ prefix, index, operation }: ParameterExpansionPart): string | null {
  if (prefix === '!') return 'it expands a variable whose name is in another variable';
  if (index !== undefined && !isNumber(index) && index.text !== '@' && index.text !== '*')
    return 'it calculates an index';
  if (operation?.type === 'Transform' || operation?.type === 'Unknown') return 'it evaluates the value of a variable';
  if (operation?.type === 'Slice' && !(isNumber(operation.offset) && isNumber(operation.length)))
    return 'it calculates a position';
  return null;
}

function uncertaintyAboutTest(test: Extract<TestExpression, { type: 'TestUnary' | 'TestBinary' }>): string | null {
  if (test.type === 'TestUnary') return /^-[vR]$/.test(test.operator) ? 'it evaluates the name of a variable' : null;
  if (!/^-(eq|ne|lt|le|gt|ge)$/.test(test.operator)) return null;
  return isNumber(test.left) && isNumber(test.right) ? null : 'it calculates with a variable';
}

/** Whether an expansion sets its variable: `${name:=value}`. */
function assigns({ operation }: ParameterExpansionPart): boolean {
  return operation?.type === 'Default' && operation.operator.endsWith('=');
}
