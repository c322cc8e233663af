import { type JudgeContext, judgePath, type Verdict } from './paths/judge-path.js';
import { pathUse } from './paths/path-use.js';
import { pathWordProblem } from './paths/path-words.js';
import { isHarmlessDevice } from './paths/private-places.js';
import { traversalProblem } from './paths/traversed-files.js';
import { type CommandRule, commandRules, coverage, coversCommandLine, matchCommand } from './rules/command-rules.js';
import { generalSubject, type Rules } from './rules/rules.js';
import { suggestCommandRule } from './rules/suggest-rule.js';
import { traversalsOf } from './shell/directory-traversals.js';
import { readCommand, type ShellPart } from './shell/read-command.js';

type FilePart = Extract<ShellPart, { kind: 'file' }>;

/**
 * Judges a shell command part by part: rules have to cover every command in it, nested ones too, and a redirection is a read or a
 * write of its file. What the text does not show is asked for.
 */
export async function judgeCommand(command: string, rules: Rules, context: JudgeContext): Promise<Verdict> {
  const { parts, words } = await readCommand(command, context.env);
  const all = flattened(parts);
  const [deny, ask, allow] = [
    await commandRules(rules.deny),
    await commandRules(rules.ask),
    await commandRules(rules.allow),
  ];
  const denied = matchingRule(deny, command, all);
  if (denied?.isCertain) return { decision: 'deny', reason: `the rule '${denied.source}' forbids it` };
  const use = pathUse(all, context.workingFolder);
  const files = await judgeFiles(all, use.changesFolder, rules, context);
  const problem =
    (await pathWordProblem(words, use, rules, context)) ??
    (await traversalProblem(traversalsOf(all, words), use.folders ?? [], rules, context));
  const forbidden = [...files.values(), problem].find((verdict) => verdict?.decision === 'deny');
  if (forbidden) return forbidden;
  const mayBeDenied =
    denied !== null ||
    leavesDenialOpen(problem) ||
    (deny.length > 0 && all.some(mayHideCommands)) ||
    [...files.values()].some(leavesDenialOpen);
  const asking = (reason: string, rule: string | null): Verdict => ({ decision: 'ask', reason, rule, mayBeDenied });
  if (problem?.decision === 'ask') return asking(problem.reason, null);
  for (const verdict of files.values())
    if (verdict.decision === 'ask' && verdict.rule === null) return asking(verdict.reason, null);
  const asked = matchingRule(ask, command, all);
  if (asked !== null) return asking(`the rule '${asked.source}' says to ask`, null);
  const whole = allow.find((rule) => coversCommandLine(rule, command));
  if (whole?.rule.scope.kind === 'exact') return { decision: 'allow' };
  const uncoveredParts = whole ? [] : uncovered(parts, allow, files);
  if (uncoveredParts.length > 0)
    return asking(reasonToAsk(uncoveredParts, command), suggestRule(command, uncoveredParts, rules));
  return mayBeDenied
    ? asking('a deny rule may apply; the text of the command does not show whether it does', null)
    : { decision: 'allow' };
}

function leavesDenialOpen(verdict: Verdict | null): boolean {
  return verdict?.decision === 'ask' && verdict.mayBeDenied === true;
}

function flattened(parts: readonly ShellPart[]): readonly ShellPart[] {
  return parts.flatMap((part) =>
    part.kind === 'command' && part.inner !== null ? [part, ...flattened(part.inner.parts)] : [part],
  );
}

function mayHideCommands(part: ShellPart): boolean {
  return part.kind === 'unclear'
    ? part.mayHideCommands
    : part.kind === 'command' && part.uncertainty?.mayHideCommands === true;
}

/** The first rule that certainly matches this command line or a part of it; else the first that may. */
function matchingRule(rules: readonly CommandRule[], command: string, all: readonly ShellPart[]) {
  let possible: string | null = null;
  for (const rule of rules) {
    const { source } = rule.rule;
    if (coversCommandLine(rule, command)) return { source, isCertain: true };
    for (const part of all) {
      const match = part.kind === 'command' ? matchCommand(rule, part) : 'no';
      if (match === 'yes') return { source, isCertain: true };
      if (match === 'maybe') possible ??= source;
    }
  }
  return possible === null ? null : { source: possible, isCertain: false };
}

async function judgeFiles(
  all: readonly ShellPart[],
  changesFolder: boolean,
  rules: Rules,
  context: JudgeContext,
): Promise<ReadonlyMap<ShellPart, Verdict>> {
  const verdicts = new Map<ShellPart, Verdict>();
  for (const part of all) {
    if (part.kind !== 'file' || isHarmlessDevice(part.path)) continue;
    const verdict = await judgePath(null, { kind: part.use, path: part.path }, rules, context);
    const isFolderUnknown = changesFolder && !/^[/~]/.test(part.path) && verdict.decision !== 'deny';
    verdicts.set(part, isFolderUnknown ? unknownFolder(part, rules) : verdict);
  }
  return verdicts;
}

function unknownFolder({ use, path }: FilePart, rules: Rules): Verdict {
  const mayBeDenied = rules.deny.some(({ subject }) => subject.accessKind !== 'execute');
  const reason = 'it is unclear which folder the file is in';
  const subject = generalSubject(rules, use);
  return { decision: 'ask', reason, rule: subject === null ? null : `${subject}(${path})`, mayBeDenied };
}

function suggestRule(command: string, open: readonly ShellPart[], rules: Rules): string | null {
  const subject = generalSubject(rules, 'execute');
  return subject === null ? null : suggestCommandRule(subject, command, open);
}

function uncovered(
  parts: readonly ShellPart[],
  allow: readonly CommandRule[],
  files: ReadonlyMap<ShellPart, Verdict>,
): readonly ShellPart[] {
  return parts.flatMap((part): readonly ShellPart[] => {
    if (part.kind === 'unclear') return [part];
    if (part.kind === 'file') return (files.get(part)?.decision ?? 'allow') === 'allow' ? [] : [part];
    const covered = coverage(allow, part);
    if (covered === 'all') return [];
    const inner = uncovered(part.inner?.parts ?? [], allow, files);
    return covered === 'outer' ? inner : [part, ...inner];
  });
}

function reasonToAsk(open: readonly ShellPart[], command: string): string {
  const [first] = open;
  if (first?.kind === 'unclear') return `${first.reason}: ${shortened(first.text)}`;
  if (first?.kind === 'file') return `no rule covers ${first.use === 'read' ? 'reading' : 'writing'} ${first.path}`;
  if (first?.uncertainty) return `${first.uncertainty.reason}: ${shortened(first.text)}`;
  const whole = first === undefined || first.text.trim() === command.trim();
  return whole ? 'no rule covers this command' : `no rule covers ${shortened(first.text)}`;
}

function shortened(text: string): string {
  const line = text.trim().replace(/\s+/g, ' ');
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}
