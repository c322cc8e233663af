import { HiError } from '../../errors.js';
import { suggestion } from '../../registry.js';
import { isGlob, unsupportedGlob } from '../glob/glob.js';

/** The rules of the configuration, as written (SPEC §7). */
export interface Permissions {
  readonly allow: readonly string[];
  readonly ask: readonly string[];
  readonly deny: readonly string[];
}

/** One rule, read: `tool`, `tool(exact text)` or `tool(prefix:*)`. */
export interface Rule {
  /** As it was written. */
  readonly source: string;
  readonly tool: string;
  readonly scope:
    | { readonly kind: 'all' }
    | { readonly kind: 'exact'; readonly text: string }
    | { readonly kind: 'prefix'; readonly text: string };
}

/** The rules, read. Lists of deny, ask and allow in the order they are asked. */
export interface Rules {
  readonly deny: readonly Rule[];
  readonly ask: readonly Rule[];
  readonly allow: readonly Rule[];
}

/** Reads all rules. Throws a `HiError` for one that cannot be read: a rule that silently does nothing is no protection. */
export function readRules({ allow, ask, deny }: Permissions, tools: readonly string[]): Rules {
  const read = (list: string) => (source: string) => readRule(source, `tools.permissions.${list}`, tools);
  return { deny: deny.map(read('deny')), ask: ask.map(read('ask')), allow: allow.map(read('allow')) };
}

function readRule(source: string, where: string, tools: readonly string[]): Rule {
  const [, tool = '', inner] = /^\s*([A-Za-z_][\w-]*)\s*(?:\((.*)\))?\s*$/s.exec(source) ?? [];
  if (!tools.includes(tool))
    throw new HiError('config', `The rule '${source}' in ${where} names no tool.`, {
      hint: `${suggestion(tool.toLowerCase(), tools)} A rule reads tool, tool(exact text) or tool(prefix:*).`,
    });
  if (inner === undefined || inner === '*' || inner === ':*') return { source, tool, scope: { kind: 'all' } };
  const scope: Extract<Rule['scope'], { text: string }> = inner.endsWith(':*')
    ? { kind: 'prefix', text: inner.slice(0, -2) }
    : { kind: 'exact', text: inner };
  if (scope.text.trim() === '')
    throw new HiError('config', `The rule '${source}' in ${where} is empty between its brackets.`, {
      hint: `Write '${tool}' for every call of this tool, or name what it covers.`,
    });
  const unsupported = isGlob(scope.text) && tool !== 'bash' ? unsupportedGlob(scope.text) : null;
  if (unsupported !== null)
    throw new HiError(
      'config',
      `The rule '${source}' in ${where} has a pattern that is not supported: '${unsupported}'.`,
      {
        hint: 'Patterns are *, **, ?, [a-z], [!a-z] and {a,b}.',
      },
    );
  return { source, tool, scope };
}
