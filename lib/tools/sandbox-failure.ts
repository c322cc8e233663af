import type { JsonObject } from '../chat/json.js';
import { describeRule, type Grant, type RuleObject } from '../permission/rules/rules.js';

/** What a command lacked in the sandbox. */
export interface Lack {
  readonly kind: 'write' | 'network' | 'other';
  /** The line of its output that says so. */
  readonly message: string;
}

const SIGNS: Readonly<Record<Lack['kind'], RegExp>> = {
  write: /read-only file ?system|EROFS|os error 30/i,
  network:
    /network is (?:unreachable|down)|could ?n[o']t resolve|name resolution|ENETUNREACH|EAI_AGAIN|ENOTFOUND|getaddrinfo|no such host|name or service not known|unknown host|failed to connect|could not connect|connection refused|ECONNREFUSED/i,
  other: /permission denied|operation not permitted|EACCES|EPERM/i,
};

const KINDS = ['write', 'network', 'other'] as const;

/** Why a command failed, where it is the sandbox; null where it is something else, or did not fail. */
export function lackOf({ exit_code, stdout, stderr }: JsonObject, { write, network }: Grant): Lack | null {
  if (exit_code === 0) return null;
  const lines = [stderr, stdout].flatMap((text) => (typeof text === 'string' ? text.slice(-20_000).split('\n') : []));
  for (const kind of KINDS) {
    if ((kind === 'write' && write) || (kind === 'network' && network)) continue;
    const line = lines.find((one) => SIGNS[kind].test(one));
    if (line !== undefined) return { kind, message: line.trim().slice(0, 200) };
  }
  return null;
}

/** What a rule would have to say so that it does not happen again; null where no rule helps. */
export function grantFor({ kind }: Lack): Partial<Grant> | null {
  return kind === 'other' ? null : { [kind]: true };
}

/** Says to user and model why a command failed, and what would help. */
export function lackNote({ message }: Lack, rule: RuleObject | null): string {
  const help =
    rule === null
      ? ''
      : ` The rule ${JSON.stringify(rule)} in tools.permissions.allow would let it (${describeRule(rule)}).`;
  return `It ran in the sandbox, which stopped it (${message}).${help} -y runs it outside.`;
}
