import type { JsonObject } from '../../chat/json.js';
import { describeRule, type Grant, generalSubject, type RuleObject, type Rules } from '../../permission/rules/rules.js';

/** The permission that a command needed in the sandbox but did not have. */
export interface MissingGrant {
  readonly kind: 'write' | 'network' | 'other';
  /** The line of its output that says so. */
  readonly message: string;
}

const SIGNS: Readonly<Record<MissingGrant['kind'], RegExp>> = {
  write: /read-only file ?system|EROFS|os error 30/i,
  network:
    /network is (?:unreachable|down)|could ?n[o']t resolve|name resolution|ENETUNREACH|EAI_AGAIN|\bENOTFOUND|getaddrinfo|no such host|name or service not known|unknown host|failed to connect|could not connect|connection refused|ECONNREFUSED/i,
  other: /permission denied|operation not permitted|EACCES|EPERM/i,
};

const KINDS = ['write', 'network', 'other'] as const;

/** The permission that a failed command was missing in the sandbox; null if it failed for another reason, or did not fail. */
export function missingGrant(
  { exit_code, stdout, stderr }: JsonObject,
  { write, network }: Grant,
): MissingGrant | null {
  if (exit_code === 0) return null;
  const lines = [stderr, stdout].flatMap((text) => (typeof text === 'string' ? text.slice(-20_000).split('\n') : []));
  for (const kind of KINDS) {
    if ((kind === 'write' && write) || (kind === 'network' && network)) continue;
    const line = lines.find((one) => SIGNS[kind].test(one));
    if (line !== undefined) return { kind, message: line.trim().slice(0, 200) };
  }
  return null;
}

/** A rule for the folder `root` that would let the same command work in the sandbox; null if none would help. */
export function ruleAgainst({ kind }: MissingGrant, command: string, rules: Rules, root: string): RuleObject | null {
  const text = command.trim();
  const subject = generalSubject(rules, 'execute');
  const isExact = text.length <= 200 && !/[\u0000-\u001f\u007f-\u009f]|:\*$/.test(text);
  return subject === null || kind === 'other' || !isExact
    ? null
    : { rule: `${subject}(${text})`, folder: root, [kind]: true };
}

/** Tells the user and the model why a command failed, and what would help. */
export function missingGrantNote({ message }: MissingGrant, rule: RuleObject | null): string {
  const help =
    rule === null
      ? ''
      : ` The rule ${JSON.stringify(rule)} in tools.permissions.allow would allow it (${describeRule(rule)}).`;
  return `It ran in the sandbox, which stopped it (${message}).${help} -y runs it outside the sandbox.`;
}
