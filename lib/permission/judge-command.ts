import { excessOf, excessOfParts, isStackOverflow, NESTED_TOO_DEEPLY } from './access.js';
import { type BuiltIn, builtIn, findsSystemPrograms } from './built-in-commands.js';
import { type JudgeContext, judgePath, type Verdict } from './paths/judge-path.js';
import {
  foldersOf,
  hidesCommands,
  type LineFolders,
  pathWordProblem,
  shouldYield,
  yieldToEvents,
} from './paths/path-words.js';
import { isHarmlessDevice } from './paths/private-places.js';
import {
  type CommandRule,
  commandRules,
  coverage,
  coversCommandLine,
  matchingRule,
  READING,
  suggestCommandRule,
  together,
} from './rules/command-rules.js';
import { type Grant, generalSubject, type Rules } from './rules/rules.js';
import { readCommand, type ShellPart } from './shell/read-command.js';
import type { ShellWord } from './shell/shell-word.js';

type FilePart = Extract<ShellPart, { kind: 'file' }>;
type AskVerdict = Extract<Verdict, { decision: 'ask' }>;
type AllowVerdict = Extract<Verdict, { decision: 'allow' }>;

/**
 * Judges a shell command part by part: rules or the built-in list have to cover every command in it, nested ones too,
 * and a redirection is a read or a write of its file. Allowed commands run in the sandbox; without one, only those of
 * the built-in list run. Whatever the text does not show needs approval.
 */
export async function judgeCommand(command: string, rules: Rules, context: JudgeContext): Promise<Verdict> {
  const unjudged = (reason: string): AskVerdict => ({
    decision: 'ask',
    reason,
    rule: null,
    mayBeDenied: rules.deny.length > 0,
  });
  const excess = excessOf(command);
  if (excess !== null) return unjudged(excess);
  try {
    const reading = await readCommand(command, context.env, context.shell);
    const all = flattened(reading.parts);
    const many = excessOfParts(reading.words.length, all.length);
    return many === null ? await judgeReading({ ...reading, command, all }, rules, context) : unjudged(many);
  } catch (failure) {
    if (!isStackOverflow(failure)) throw failure;
    return unjudged(NESTED_TOO_DEEPLY);
  }
}

async function judgeReading(line: CommandLine, rules: Rules, context: JudgeContext): Promise<Verdict> {
  const { command, words } = line;
  const [deny, ask] = [await commandRules(rules.deny), await commandRules(rules.ask)];
  const denied = matchingRule(deny, command, line.all);
  if (denied?.isCertain) return { decision: 'deny', reason: `the rule '${denied.source}' forbids it` };
  const use = foldersOf(line.all, context.workingFolder);
  const files = await judgeFiles(line.all, use.changes, rules, context);
  const named = await pathWordProblem(words, use, rules, context);
  const forbidden = [...files.values(), named].find((verdict) => verdict?.decision === 'deny');
  if (forbidden) return forbidden;
  // Which files a command uses, a sandbox decides; which words a command has that the text does not show, nobody can
  // tell.
  const mayBeDenied = denied !== null || (deny.length > 0 && line.all.some(hidesCommands));
  const asking = (reason: string, rule: string | null): AskVerdict => ({ decision: 'ask', reason, rule, mayBeDenied });
  const problem = [named, ...files.values()].find((verdict) => verdict?.decision === 'ask' && verdict.rule === null);
  if (problem?.decision === 'ask') {
    const asked = asking(problem.reason, null);
    return problem.mayBeDenied ? { ...asked, mayBeDenied: true } : asked;
  }
  const asked = matchingRule(ask, command, line.all);
  if (asked !== null) return asking(`the rule '${asked.source}' says to ask`, null);
  const covered = await cover(line, files, use, rules, context);
  if (covered.decision === 'ask') return asking(covered.reason, covered.rule);
  return mayBeDenied
    ? asking('a deny rule may apply; the text of the command does not show whether it does', null)
    : covered;
}

interface CommandLine {
  readonly command: string;
  readonly parts: readonly ShellPart[];
  readonly words: readonly ShellWord[];
  /** The parts, including nested commands. */
  readonly all: readonly ShellPart[];
}

type Files = ReadonlyMap<ShellPart, Verdict>;

function flattened(parts: readonly ShellPart[]): readonly ShellPart[] {
  return parts.flatMap((part) =>
    part.kind === 'command' && part.inner !== null ? [part, ...flattened(part.inner.parts)] : [part],
  );
}

async function judgeFiles(
  all: readonly ShellPart[],
  changesFolder: boolean,
  rules: Rules,
  context: JudgeContext,
): Promise<Files> {
  const verdicts = new Map<ShellPart, Verdict>();
  for (const part of all) {
    if (part.kind !== 'file' || isHarmlessDevice(part.path)) continue;
    if (shouldYield()) await yieldToEvents(context.signal);
    const verdict = await judgePath(null, { kind: part.use, path: part.path }, rules, context);
    const isFolderUnknown = changesFolder && !/^[/~]/.test(part.path) && verdict.decision !== 'deny';
    verdicts.set(part, isFolderUnknown ? unknownFolder(part, rules) : verdict);
  }
  return verdicts;
}

function unknownFolder({ use, path }: FilePart, rules: Rules): Verdict {
  const reason = 'it is unclear which folder the file is in';
  const subject = generalSubject(rules, use);
  return { decision: 'ask', reason, rule: subject === null ? null : `${subject}(${path})` };
}

/** Whether rules and the built-in list cover the whole line, and what they let it do. */
async function cover(
  line: CommandLine,
  files: Files,
  use: LineFolders,
  rules: Rules,
  context: JudgeContext,
): Promise<AskVerdict | AllowVerdict> {
  const allow = await commandRules(rules.allow);
  const known = await builtIns(line.all, use, rules, context);
  // A rule written for bash has another meaning in another shell.
  const isForBash = context.shell === 'sh' && line.all.some(({ kind }) => kind === 'unclear');
  const whole = allow.filter(
    (rule) => coversCommandLine(rule, line.command) && !(isForBash && rule.rule.scope.kind === 'exact'),
  );
  const found = line.parts.map((part) => coverPart(part, allow, files, known));
  const open = whole.length > 0 ? [] : found.flatMap(({ uncovered }) => uncovered);
  const ask = (reason: string, rule: string | null): AskVerdict => ({ decision: 'ask', reason, rule });
  if (open.length > 0) return ask(reasonToAsk(open, line.command), suggestRule(line.command, open, rules));
  const grants = [...whole.map(({ rule }) => rule.grant), ...found.map(({ grant }) => grant)];
  // The author of a rule for every command did not see these files; the author of one with the exact text did.
  const isExact = whole.some(({ rule }) => rule.scope.kind === 'exact');
  const mayChange = (part: FilePart): boolean => isExact || (files.get(part)?.decision ?? 'allow') === 'allow';
  if (context.hasSandbox) {
    const written = writtenFiles(files).filter(mayChange);
    return { decision: 'allow', grant: { ...together(grants), files: written.map(({ path }) => path) } };
  }
  const isKnown = (part: ShellPart): boolean =>
    part.kind === 'file'
      ? part.use !== 'write' || mayChange(part)
      : part.kind === 'command' && known.get(part) !== 'no' && known.has(part);
  return line.all.every(isKnown) && findsSystemPrograms(context)
    ? { decision: 'allow' }
    : ask('there is no sandbox here, so only read-only commands run without approval', null);
}

async function builtIns(
  all: readonly ShellPart[],
  { folders }: LineFolders,
  rules: Rules,
  context: JudgeContext,
): Promise<ReadonlyMap<ShellPart, BuiltIn>> {
  const found = new Map<ShellPart, BuiltIn>();
  for (const part of all)
    if (part.kind === 'command' && folders !== null) found.set(part, await builtIn(part, folders, rules, context));
  return found;
}

interface CoveredPart {
  readonly uncovered: readonly ShellPart[];
  readonly grant: Grant;
}

function coverPart(
  part: ShellPart,
  allow: readonly CommandRule[],
  files: Files,
  known: ReadonlyMap<ShellPart, BuiltIn>,
): CoveredPart {
  if (part.kind === 'unclear') return { uncovered: [part], grant: READING };
  if (part.kind === 'file')
    return { uncovered: (files.get(part)?.decision ?? 'allow') === 'allow' ? [] : [part], grant: READING };
  const { reach, grant } = coverage(allow, part);
  if (reach === 'all' || known.get(part) === 'yes') return { uncovered: [], grant };
  const inner = (part.inner?.parts ?? []).map((one) => coverPart(one, allow, files, known));
  return {
    uncovered: [...(reach === 'outer' ? [] : [part]), ...inner.flatMap(({ uncovered }) => uncovered)],
    grant: together([grant, ...inner.map((one) => one.grant)]),
  };
}

/** The files that the line redirects to. */
function writtenFiles(files: Files): readonly FilePart[] {
  return [...files].flatMap(([part]) => (part.kind === 'file' && part.use === 'write' ? [part] : []));
}

function suggestRule(command: string, open: readonly ShellPart[], rules: Rules): string | null {
  const subject = generalSubject(rules, 'execute');
  return subject === null ? null : suggestCommandRule(subject, command, open);
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
  const line = text.replace(/[ \t\n]+/g, ' ').replace(/^ | $/g, '');
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}
