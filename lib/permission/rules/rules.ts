import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { posix, resolve } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue } from '../../chat/json.js';
import { HiError } from '../../errors.js';
import { suggestion } from '../../registry.js';
import { isGlob, pathMatcher, unsupportedGlob } from '../glob/glob.js';

/**
 * A rule in the configuration with further fields: the folder it applies in, and what the sandbox lets its commands do.
 */
export interface RuleObject {
  /** `tool`, `tool(exact text)` or `tool(prefix:*)`. */
  readonly rule: string;
  /** The working folder that it applies in; absent for all folders. */
  readonly folder?: string;
  /** Whether its commands may change files of the working folder. */
  readonly write?: boolean;
  /** Whether its commands may reach the network. */
  readonly network?: boolean;
  /** Files and folders outside of the working folder that its commands may read. */
  readonly read?: readonly string[];
}

/** A rule as written; a string if it has no further fields. */
export type RuleEntry = string | RuleObject;

/** The rules in the configuration, as written. */
export interface Permissions {
  readonly allow: readonly RuleEntry[];
  readonly ask: readonly RuleEntry[];
  readonly deny: readonly RuleEntry[];
}

/** What the sandbox lets a command do, beyond reading. */
export interface Grant {
  readonly write: boolean;
  readonly network: boolean;
  /** Files and folders outside of the working folder: absolute, below `~`, or relative to the working folder. */
  readonly read: readonly string[];
}

/** What the sandbox lets one command line do. */
export interface CommandGrant extends Grant {
  /** The files that it redirects to. */
  readonly files: readonly string[];
  /** Whether it may do anything except for what is denied: the user approved every command. */
  readonly isOpen?: true;
}

/** What an access does. */
type AccessKind = 'read' | 'write' | 'execute' | 'conversation' | 'memory' | 'server';

/** A tool as rules name it. The tools declare it, so that none of them is named here. */
export interface RuleSubject {
  readonly name: string;
  /** What each call of the tool does. */
  readonly accessKind: AccessKind;
  /** Whether its rules cover every access of this kind: the calls of other tools, and what a command does to files. */
  readonly rulesCoverKind: boolean;
  /** Whether `name` is only the prefix of unknown tool names: rules may name any such tool, or end with `*`. */
  readonly isFamily?: true;
}

/** One parsed rule: `tool`, `tool(exact text)` or `tool(prefix:*)`; for a server's tool `tool(argument=pattern)`. */
export interface Rule {
  /** As it was written. */
  readonly source: string;
  readonly subject: RuleSubject;
  readonly scope:
    | { readonly kind: 'all' }
    | { readonly kind: 'exact'; readonly text: string }
    | { readonly kind: 'prefix'; readonly text: string }
    /** Calls of a server's tool in which an argument has such a value. */
    | { readonly kind: 'argument'; readonly name: string; readonly text: string };
  /** What its commands may do in the sandbox. */
  readonly grant: Grant;
}

/** The parsed rules. `deny` is checked first, then `ask`, then `allow`. */
export interface Rules {
  /** The tools that rules can name. */
  readonly subjects: readonly RuleSubject[];
  readonly deny: readonly Rule[];
  readonly ask: readonly Rule[];
  readonly allow: readonly Rule[];
}

/**
 * Parses all rules, and keeps those that apply in the working folder `root`. Throws a `HiError` for an invalid rule,
 * because a rule that is silently ignored protects nothing.
 */
export function readRules(permissions: Permissions, subjects: readonly RuleSubject[], root: string): Rules {
  const read = (list: keyof Permissions) =>
    permissions[list].flatMap((entry) => {
      const rule = readRule(entry, `tools.permissions.${list}`, subjects);
      return holdsIn(entry, root) ? [rule] : [];
    });
  return { subjects, deny: read('deny'), ask: read('ask'), allow: read('allow') };
}

/** A rule for one folder does not apply in another, where the same command may run other files. */
function holdsIn(entry: RuleEntry, root: string): boolean {
  if (typeof entry === 'string' || entry.folder === undefined) return true;
  const folder = /^~(?=\/|$)/.test(entry.folder) ? homedir() + entry.folder.slice(1) : entry.folder;
  return realFolder(folder) === realFolder(root);
}

function realFolder(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

/** A rule in one line, as a question shows it: `bash(npm test), may write, may use the network`. */
export function describeRule(entry: RuleEntry): string {
  if (typeof entry === 'string') return entry;
  const read = entry.read?.length ? `, may read ${entry.read.join(', ')}` : '';
  return `${entry.rule}${entry.write ? ', may write' : ''}${entry.network ? ', may use the network' : ''}${read}`;
}

/** Whether a rule is about this access. `tool` is the called tool; null for an access by a command. */
export function concerns({ subject }: Rule, kind: AccessKind, tool: string | null): boolean {
  if (subject.rulesCoverKind && subject.accessKind === kind) return true;
  if (subject.isFamily && subject.name.endsWith('*')) return tool?.startsWith(subject.name.slice(0, -1)) === true;
  return subject.name === tool;
}

/** Whether a rule is about files that it names. */
export const namesPlaces = ({ subject, scope }: Rule): boolean =>
  (subject.accessKind === 'read' || subject.accessKind === 'write') &&
  (scope.kind === 'exact' || scope.kind === 'prefix');

/** The tool whose rules cover every access of this kind; null if there is none. */
export function generalSubject({ subjects }: Rules, kind: AccessKind): string | null {
  return subjects.find(({ accessKind, rulesCoverKind }) => rulesCoverKind && accessKind === kind)?.name ?? null;
}

/** The subject of a rule for a tool whose name has a known prefix; undefined if none matches. */
function inFamily(tool: string, subjects: readonly RuleSubject[]): RuleSubject | undefined {
  const family = subjects.find(({ name, isFamily }) => isFamily && tool.startsWith(name) && tool.length > name.length);
  return family && { ...family, name: tool };
}

function hintFor(tool: string, subjects: readonly RuleSubject[]): string {
  const names = subjects.map(({ name }) => name);
  if (names.includes(tool)) return `Names of tools begin with '${tool}'. Write '${tool}*' for all of them.`;
  return `${suggestion(tool.toLowerCase(), names)} Write tool, tool(exact text) or tool(prefix:*).`;
}

type TextScope = Extract<Rule['scope'], { text: string }>;

const textScope = (inner: string): TextScope =>
  inner.endsWith(':*') ? { kind: 'prefix', text: inner.slice(0, -2) } : { kind: 'exact', text: inner };

function argumentScope(inner: string, source: string, where: string, tool: string): TextScope {
  const at = inner.indexOf('=');
  const name = inner.slice(0, Math.max(0, at)).trim();
  if (name !== '') return { kind: 'argument', name, text: inner.slice(at + 1).trim() };
  throw new HiError('config', `The rule '${source}' in ${where} does not name an argument of the tool.`, {
    hint: `Write '${tool}(argument=pattern)', or '${tool}' for every call.`,
  });
}

function readRule(entry: RuleEntry, where: string, subjects: readonly RuleSubject[]): Rule {
  const {
    rule: source,
    write = false,
    network = false,
    read = [],
  } = typeof entry === 'string' ? { rule: entry } : entry;
  const grant = { write, network, read };
  const [, tool = '', inner] = /^([A-Za-z_][\w-]*\*?)(?:\s*\((.*)\))?$/s.exec(source.trim()) ?? [];
  const subject = subjects.find(({ name, isFamily }) => name === tool && !isFamily) ?? inFamily(tool, subjects);
  if (subject === undefined) {
    throw new HiError('config', `The rule '${source}' in ${where} does not begin with the name of a tool.`, {
      hint: hintFor(tool, subjects),
    });
  }
  if (inner === undefined || inner === '*' || inner === ':*') return { source, subject, scope: { kind: 'all' }, grant };
  const scope = subject.isFamily ? argumentScope(inner, source, where, tool) : textScope(inner);
  if (scope.text.trim() === '')
    throw new HiError('config', `The rule '${source}' in ${where} has empty parentheses.`, {
      hint: `Write '${tool}' for every call of this tool, or put what it covers between the parentheses.`,
    });
  const unsupported = subject.accessKind !== 'execute' && isGlob(scope.text) ? unsupportedGlob(scope.text) : null;
  if (unsupported !== null)
    throw new HiError(
      'config',
      `The rule '${source}' in ${where} has a pattern that is not supported: '${unsupported}'.`,
      {
        hint: 'Patterns are *, **, ?, [a-z], [!a-z] and {a,b}.',
      },
    );
  return { source, subject, scope, grant };
}

/**
 * Whether an allow rule covers a call with these arguments: the argument it names exists, is a single value, and
 * matches.
 */
export function covers({ scope }: Rule, args: JsonObject): boolean {
  if (scope.kind !== 'argument') return scope.kind === 'all';
  const text = Object.hasOwn(args, scope.name) ? textOf(args[scope.name]) : null;
  // A path with `..` may lead anywhere.
  return text !== null && !/(?:^|[\\/])\.\.(?:$|[\\/])/.test(text) && matches(scope.text, text);
}

/** Whether an ask or deny rule may cover it: some text in the argument matches, as written or as a path. */
export function mayCover({ scope }: Rule, args: JsonObject): boolean {
  if (scope.kind !== 'argument') return scope.kind === 'all';
  const texts = Object.hasOwn(args, scope.name) ? textsIn(args[scope.name]) : [];
  return texts.some((text) => matches(scope.text, text) || matches(scope.text, posix.normalize(text)));
}

/** Steps of paths, and of anything else that has slashes. */
const matches = (pattern: string, text: string): boolean =>
  pattern === text || (pattern.startsWith('/') === text.startsWith('/') && pathMatcher(pattern)(text));

/** A single value as rules write it; null for anything else. */
function textOf(value: JsonValue | undefined): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}

function textsIn(value: JsonValue | undefined): readonly string[] {
  const text = textOf(value);
  if (text !== null) return [text];
  if (typeof value !== 'object' || value === null) return [];
  return (isJsonObject(value) ? Object.values(value) : value).flatMap(textsIn);
}
