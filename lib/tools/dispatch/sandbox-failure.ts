import type { JsonObject } from '../../chat/json.js';
import { describeRule, type Grant, generalSubject, type RuleObject, type Rules } from '../../permission/rules/rules.js';

/** The permission that a command needed in the sandbox but did not have. */
export type MissingGrant = 'write' | 'network' | 'other';

/** What the command wanted. Its own words are left out: they could pass for those of hi. */
export const WANTED: Readonly<Record<MissingGrant, string>> = {
  write: 'it wanted to write to the disk',
  network: 'it wanted to reach the network',
  other: 'something was not permitted',
};

const SIGNS: Readonly<Record<MissingGrant, RegExp>> = {
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
  const texts = [stderr, stdout].map((text) => (typeof text === 'string' ? text.slice(-20_000) : ''));
  for (const kind of KINDS) {
    if ((kind === 'write' && write) || (kind === 'network' && network)) continue;
    if (texts.some((text) => SIGNS[kind].test(text))) return kind;
  }
  return null;
}

/** A rule for the folder `root` that would let the same command work in the sandbox; null if none would help. */
export function ruleAgainst(kind: MissingGrant, command: string, rules: Rules, root: string): RuleObject | null {
  const text = command.trim();
  const subject = generalSubject(rules, 'execute');
  const isExact = text.length <= 200 && !/[\u0000-\u001f\u007f-\u009f]|:\*$/.test(text);
  return subject === null || kind === 'other' || !isExact
    ? null
    : { rule: `${subject}(${text})`, folder: root, [kind]: true };
}

/** Tells the user and the model why a command failed, and what would help. */
export function missingGrantNote(kind: MissingGrant, rule: RuleObject | null, allowAll: boolean): string {
  if (allowAll)
    return `It ran in a sandbox that keeps it from hi's own places and from what deny rules name, and ${WANTED[kind]}.`;
  const help =
    rule === null
      ? ''
      : ` The rule ${JSON.stringify(rule)} in tools.permissions.allow would allow it (${describeRule(rule)}).`;
  return `It ran in the sandbox, which stopped it, because ${WANTED[kind]}.${help} -y allows that too.`;
}
