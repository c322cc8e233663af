import { HiError } from '../../errors.js';
import { suggestion } from '../../registry.js';
import { isGlob, unsupportedGlob } from '../glob/glob.js';

/** The rules in the configuration, as written (SPEC §7). */
export interface Permissions {
  readonly allow: readonly string[];
  readonly ask: readonly string[];
  readonly deny: readonly string[];
}

/** What an access does. */
export type AccessKind = 'read' | 'write' | 'execute';

/** A tool as rules name it. The tools declare it, so that none of them is named here. */
export interface RuleSubject {
  readonly name: string;
  /** What each call of the tool does. */
  readonly accessKind: AccessKind;
  /** Whether its rules cover every access of this kind: the calls of other tools, and what a command does to files. */
  readonly rulesCoverKind: boolean;
}

/** One parsed rule: `tool`, `tool(exact text)` or `tool(prefix:*)`. */
export interface Rule {
  /** As it was written. */
  readonly source: string;
  readonly subject: RuleSubject;
  readonly scope:
    | { readonly kind: 'all' }
    | { readonly kind: 'exact'; readonly text: string }
    | { readonly kind: 'prefix'; readonly text: string };
}

/** The parsed rules. `deny` is looked at first, then `ask`, then `allow`. */
export interface Rules {
  /** The tools that rules can name. */
  readonly subjects: readonly RuleSubject[];
  readonly deny: readonly Rule[];
  readonly ask: readonly Rule[];
  readonly allow: readonly Rule[];
}

/** Parses all rules. Throws a `HiError` for an invalid one: a rule that silently does nothing protects nothing. */
export function readRules({ allow, ask, deny }: Permissions, subjects: readonly RuleSubject[]): Rules {
  const read = (list: string) => (source: string) => readRule(source, `tools.permissions.${list}`, subjects);
  return { subjects, deny: deny.map(read('deny')), ask: ask.map(read('ask')), allow: allow.map(read('allow')) };
}

/** Whether a rule is about this access. `tool` is the tool whose call it is; null for what a command does. */
export function concerns({ subject }: Rule, kind: AccessKind, tool: string | null): boolean {
  return subject.name === tool || (subject.rulesCoverKind && subject.accessKind === kind);
}

/** The tool whose rules cover every access of this kind; null where there is none. */
export function generalSubject({ subjects }: Rules, kind: AccessKind): string | null {
  return subjects.find(({ accessKind, rulesCoverKind }) => rulesCoverKind && accessKind === kind)?.name ?? null;
}

function readRule(source: string, where: string, subjects: readonly RuleSubject[]): Rule {
  const [, tool = '', inner] = /^\s*([A-Za-z_][\w-]*)\s*(?:\((.*)\))?\s*$/s.exec(source) ?? [];
  const subject = subjects.find(({ name }) => name === tool);
  if (subject === undefined) {
    const names = subjects.map(({ name }) => name);
    throw new HiError('config', `The rule '${source}' in ${where} does not begin with the name of a tool.`, {
      hint: `${suggestion(tool.toLowerCase(), names)} Write tool, tool(exact text) or tool(prefix:*).`,
    });
  }
  if (inner === undefined || inner === '*' || inner === ':*') return { source, subject, scope: { kind: 'all' } };
  const scope: Extract<Rule['scope'], { text: string }> = inner.endsWith(':*')
    ? { kind: 'prefix', text: inner.slice(0, -2) }
    : { kind: 'exact', text: inner };
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
  return { source, subject, scope };
}
