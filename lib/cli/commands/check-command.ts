import type { ChalkInstance } from 'chalk';
import { isOwnAddress, REFUSAL_LIFE, timesOf } from '../../chat/model.js';
import { quantity } from '../../chat/text.js';
import type { Config } from '../../config/config.js';
import type { Paths } from '../../config/paths.js';
import { publishedWindow } from '../../config/resolve.js';
import { EXIT_STATUS, HiError } from '../../errors.js';
import { isConflictCopy } from '../../history/base/history-paths.js';
import { prepareCodec } from '../../history/file/codec.js';
import { isKeptAnswer } from '../../history/kept-answers.js';
import { describeRule } from '../../permission/rules/rules.js';
import { SANDBOX_HINT, sandboxKind, sandboxProblem } from '../../permission/sandbox/sandbox-kind.js';
import type { ProviderMember } from '../../providers/common/provider.js';
import { providers } from '../../providers/index.js';
import { pick } from '../../registry.js';
import { wrapLines } from '../../screen/print.js';
import { neutralise } from '../../screen/text/neutralise.js';
import type { Target } from '../../session/common/deps.js';
import { colours } from '../base/command-output.js';
import { usableServers } from '../base/configured-servers.js';
import { clipboardMethod } from '../base/give-out.js';
import type { CommonOptions } from '../base/options.js';
import {
  readSettings,
  requireConfig,
  requireWritable,
  type Settings,
  TEST_HINT,
  TEST_LIMIT,
  withTimeout,
} from '../base/settings.js';
import { orphanRules, plainHttpWarnings } from '../base/warnings.js';
import type { World } from '../base/world.js';
import { openSession, type WiredSession } from '../wiring/wire.js';
import { type Finding, systemFindings } from './check-system.js';
import { findSkills } from './skills-command.js';

interface CheckOptions extends CommonOptions {
  readonly live?: boolean;
}

/**
 * Checks everything `hi` needs and prints a line for each part. Only `live` asks the vendor: for its models, and for
 * one word, with all that the model once refused. Resolves to 0 when nothing failed, else to the exit status of the
 * first failure.
 */
export async function checkCommand(world: World, options: CheckOptions): Promise<number> {
  let status = 0;
  const colour = colours(world);
  for await (const finding of findings(world, options)) {
    world.stdout.write(lineOf(finding, world, colour));
    if ('failure' in finding) status ||= EXIT_STATUS[finding.failure.code];
  }
  return status;
}

function lineOf(finding: Finding, { stdout }: World, colour: ChalkInstance): string {
  const [state, paint, text] = stateOf(finding, colour);
  const line = `${state.padEnd(7)}${finding.part}: ${neutralise(text)}`;
  const wrapped = stdout.isTTY ? wrapLines(line, stdout.columns ?? 80) : line;
  return `${paint(state)}${wrapped.slice(state.length)}\n`;
}

function stateOf(finding: Finding, colour: ChalkInstance): readonly [string, ChalkInstance, string] {
  if ('ok' in finding) return ['ok', colour.green, finding.ok];
  if ('note' in finding) return ['-', colour.dim, finding.note];
  const { message, hint } = finding.failure;
  return ['fail', colour.red, hint === null ? message : `${message}\n       ${hint}`];
}

async function* findings(world: World, options: CheckOptions): AsyncGenerator<Finding> {
  yield await checkPart('zstd', async () => (await prepareCodec()).name);
  const settings = await attempt('file', () => readSettings(world, options));
  if ('failure' in settings) return yield settings;
  const { paths, file, warnings } = settings.value;
  yield { part: 'file', ok: file === null ? `none at '${paths.configFile}' (optional)` : paths.configFile };
  for (const warning of warnings) yield { part: 'file', failure: new HiError('config', warning) };
  yield* folders(paths);
  yield* skillFindings(world, options);
  yield { part: 'clipboard', ok: clipboardMethod(world) };
  yield* systemFindings();
  const config = await attempt('provider', async () => requireConfig(settings.value));
  if ('failure' in config) return yield config;
  const opened = await attempt('history', () => openSession(world, { ...options, ephemeral: true }));
  if ('failure' in opened) return yield opened;
  yield* conversation(opened.value);
  yield await sandbox(opened.value);
  yield* rules(opened.value);
  yield* serverRules(world, opened.value);
  yield* modelFindings(settings.value, opened.value, options.live ?? false);
}

async function* folders({ config, data, cache }: Paths): AsyncGenerator<Finding> {
  for (const [part, folder] of [
    ['settings folder', config],
    ['data folder', data],
    ['cache folder', cache],
  ] as const)
    yield await checkPart(part, async () => {
      await requireWritable(folder);
      return folder;
    });
}

async function* skillFindings(world: World, options: CheckOptions): AsyncGenerator<Finding> {
  const found = await attempt('skills', () => findSkills(world, options));
  if ('failure' in found) return yield found;
  yield { part: 'skills', ok: `${found.value.skills.length}` };
  for (const { path, reason } of found.value.warnings) yield { part: 'skills', note: `'${path}' ${reason}` };
}

async function* conversation({ session, settings }: WiredSession): AsyncGenerator<Finding> {
  const { history } = settings.paths;
  const { totals } = session.history;
  const verified = await attempt('history', () => session.history.verify());
  if ('failure' in verified) yield verified;
  else {
    const { problems, lost = [] } = verified.value;
    const ok = `${totals.messages} messages in '${history}', all readable`;
    yield problems.length > 0 ? damaged(history, problems) : { part: 'history', ok };
    if (lost.length > 0) yield lostAttachments(lost);
  }
  for (const note of session.history.takeNotices()) yield { part: 'history', note };
  for (const copy of totals.files.filter(isConflictCopy)) yield { part: 'history', note: conflictNote(history, copy) };
}

/** What only the copy has was said on another machine, or could not be written. */
function conflictNote(history: string, copy: string): string {
  if (isKeptAnswer(copy))
    return `'${copy}' is an answer that could not be written. To add it, run: hi import --conflicts`;
  const [from, to] = [copy, history].map((path) => `'${path.replaceAll("'", "'\\''")}'`);
  return `${from} is a conflict copy: the conversation was changed on two machines. To join it, run: cat ${from} >>${to} && rm ${from}`;
}

function damaged(history: string, problems: readonly string[]): Finding {
  const failure = new HiError('history', `'${history}' is damaged: ${problems.join(' ')}`, {
    hint: "The next message, or 'hi history', recovers every readable message and keeps the damaged file next to it.",
  });
  return { part: 'history', failure };
}

function lostAttachments(lost: readonly string[]): Finding {
  const failure = new HiError('history', `Missing or changed: ${lost.join(', ')}.`, {
    hint: 'Attach the same files again to restore them. Until then the model is told that they are missing.',
  });
  return { part: 'attachments', failure };
}

async function sandbox({ config }: WiredSession): Promise<Finding> {
  const part = 'sandbox';
  const isOn = config.tools.sandbox !== false;
  const [kind, problem] = [await sandboxKind(), await sandboxProblem()];
  if (kind !== null)
    return { part, ok: `${kind}; ${isOn ? 'every command' : 'every command without approval'} runs in it` };
  if (isOn)
    return {
      part,
      failure: new HiError('config', `tools.sandbox is on, but ${problem}, so no command runs.`, {
        hint: SANDBOX_HINT,
      }),
    };
  const note = `none: ${problem}. Only read-only commands, such as ls and grep, run without approval; rules for others have no effect`;
  return { part, note };
}

/** The rules about MCP servers that there are not. */
async function* serverRules(world: World, { config, settings: { paths } }: WiredSession): AsyncGenerator<Finding> {
  const { mcpServers: servers, tools } = config;
  const { entries, waiting } = await usableServers(world, { paths, servers, timeout: tools.timeout_ms });
  const names = [...Object.keys(servers), ...[...entries, ...waiting].map(({ name }) => name)];
  for (const note of orphanRules(tools.permissions, names)) yield { part: 'rules', note };
}

/** The rules that allow something in every folder, since no question showed them. */
async function* rules({ config }: WiredSession): AsyncGenerator<Finding> {
  const { allow } = config.tools.permissions;
  const part = 'rules';
  if (allow.length > 0) yield { part, ok: `${allow.length} allow calls without approval` };
  for (const rule of allow)
    if (typeof rule === 'string' || rule.folder === undefined)
      yield { part, note: `in every folder: ${describeRule(rule)}` };
}

/** Runs a check; what it resolves to is said when it passes. */
async function checkPart(part: string, check: () => Promise<string>): Promise<Finding> {
  const result = await attempt(part, check);
  return 'failure' in result ? result : { part, ok: result.value };
}

/** What `make` resolves to, or the `HiError` it throws as a finding. */
async function attempt<Value>(
  part: string,
  make: () => Promise<Value>,
): Promise<{ readonly part: string; readonly failure: HiError } | { readonly value: Value }> {
  try {
    return { value: await make() };
  } catch (thrown) {
    if (thrown instanceof HiError) return { part, failure: thrown };
    throw thrown;
  }
}

/** Checks the key, the model and its window; asks the vendor only where `isLive`. */
async function* modelFindings(settings: Settings, wired: WiredSession, isLive: boolean): AsyncGenerator<Finding> {
  const { session, config } = wired;
  const key = await attempt('key', () => session.target.connect());
  if ('failure' in key) return yield key;
  yield { part: 'key', ok: config.api_key === null ? 'not needed' : `found in ${config.key_source}` };
  for (const note of plainHttpWarnings(config)) yield { part: 'key', note };
  yield { part: 'model', ok: `${config.provider}/${config.model}` };
  yield* unchecked(config);
  yield* leftOut(session.target);
  if (isLive) await session.target.ask?.(AbortSignal.timeout(FACTS_LIMIT), true);
  yield contextWindow(config, session.target);
  yield* trigger({ ...config, context_window: session.target.context_window });
  yield summaries(settings, config, session.target.fast?.model);
  for (const name of config.fallback)
    yield await checkPart(`fallback '${name}'`, async () => {
      const { provider, model } = await wired.connections.next(name);
      return `${provider}/${model}`;
    });
  if (isLive) yield* live(wired);
  else yield { part: 'reachability', note: "not checked; 'hi config check --live' makes one small call" };
}

/** What goes into requests without hi knowing what it means. */
function* unchecked({ options: { extra_body = {}, extra_headers = {} } }: Config): Generator<Finding> {
  const names = [...Object.keys(Object(extra_body)), ...Object.keys(Object(extra_headers))];
  if (names.length > 0) yield { part: 'options', note: `${names.join(', ')}: sent as they are, unchecked` };
}

/** What is left out of requests because the model refused it. */
function* leftOut({ model, memory: { facts } }: Target): Generator<Finding> {
  const times = timesOf(facts).filter(([name]) => name !== 'usual_form');
  if (times.length === 0) return;
  const kinds = times.map(([name]) => name.replace(/ .*/s, ''));
  const names = [...new Set(kinds.map((kind) => LEFT_OUT[kind] ?? kind.replaceAll('_', ' ')))].join(', ');
  const rest = times.reduce((latest, [, at]) => Math.max(latest, at), 0) + REFUSAL_LIFE - Date.now();
  const again = `${quantity(Math.ceil(rest / 60_000), 'minute')}, or at once by 'hi config check --live'`;
  yield { part: 'left out', note: `${names}: '${model}' refused it. It is tried again in ${again}` };
}

/** What `refused_at` names by other than its usual name. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  earlier_parts: 'all but the text of earlier messages',
  earlier_opaque: 'the thinking of earlier answers',
  opaque: 'the thinking of earlier answers',
  calls: 'earlier calls, except in words',
  system: 'a system message of its own',
  extras: 'cache marks and the like',
  output_limit: 'a length limit',
  stream: 'streaming',
  thinking: 'a level of thinking',
  tool: 'tools of MCP servers',
  file: 'files',
  option: 'options',
};

/** How long a server may take to report a model's capabilities, in milliseconds. */
const FACTS_LIMIT = 10_000;

function contextWindow({ model, window_is_set }: Config, { context_window, model_window, memory }: Target): Finding {
  const part = 'context window';
  const real = model_window ?? context_window;
  if (window_is_set) return { part, ok: `${context_window} tokens, from the file` };
  const used =
    real > context_window ? `; shares and thresholds are of ${context_window} unless you set context_window` : '';
  if (memory.facts.context_window !== undefined)
    return { part, ok: `${real} tokens, as reported by the server${used}` };
  if (publishedWindow(model) === real) return { part, ok: `${real} tokens${used}` };
  const note = `${real} tokens assumed: no published value for '${model}'. Set context_window in config.json, or let 'hi config check --live' ask the server`;
  return { part, note };
}

/** The user chose the number, so nothing lowers it to what the model can take. */
function* trigger({ max_input_tokens, context_window, compaction }: Config): Generator<Finding> {
  if (max_input_tokens === null || max_input_tokens <= context_window) return;
  const text = `max_input_tokens is ${max_input_tokens}, above the context window of ${context_window}, so it has no effect.`;
  const most = Math.floor(compaction.trigger_ratio * context_window);
  const hint = `Set max_input_tokens to ${most} or less, or remove it. If the model has a larger window, set context_window.`;
  yield { part: 'max_input_tokens', failure: new HiError('config', text, { hint }) };
}

/** Which model writes the summaries, and why it is not the vendor's fast one. */
function summaries(
  { file }: Settings,
  { provider, model, api_base, small_model }: Config,
  listed: string | undefined,
): Finding {
  const part = 'summaries';
  if (small_model !== null) return { part, ok: `${small_model.provider}/${small_model.model} writes them` };
  const { fastModel, ...member }: ProviderMember = pick(providers, provider, 'provider');
  const main = `the main model, ${model}, writes them`;
  if (file?.small_model === null) return { part, ok: `${main}, as config.json says` };
  if (listed !== undefined) return { part, ok: `${provider}/${listed} writes them` };
  if (fastModel === model) return { part, ok: main };
  if (fastModel === null || isOwnAddress(member, api_base)) {
    return { part, note: `${main}. Set small_model in config.json to use a faster one` };
  }
  const host = api_base === null ? '' : new URL(api_base).host;
  return {
    part,
    note: `${main}: '${host}' may not have '${fastModel}'. Set small_model in config.json to use a faster one`,
  };
}

async function* live({ session, config, connections }: WiredSession): AsyncGenerator<Finding> {
  const listed = await attempt('reachability', () => connections.models(session.target));
  if ('value' in listed) {
    yield { part: 'reachability', ok: `the server lists ${quantity(listed.value.length, 'model')}` };
    if (!listed.value.includes(config.model)) yield { part: 'model', note: `'${config.model}' is not on that list` };
  } else if (['network', 'key'].includes(listed.failure.code)) return yield listed;
  else
    yield { part: 'reachability', note: `the server answers, but does not list its models: ${listed.failure.message}` };
  connections.forgetRefusals();
  yield* answerFindings('answer', session);
  // The call has loaded the model, which may have set its window.
  await session.target.ask?.(AbortSignal.timeout(FACTS_LIMIT), true);
  yield* serverFacts(session.target, config);
  yield* otherServers({ session, connections });
}

/** One small call to each of the other servers by name. */
async function* otherServers({
  session,
  connections,
}: Pick<WiredSession, 'session' | 'connections'>): AsyncGenerator<Finding> {
  const main = session.target.server;
  for (const name of connections.serverNames.filter((one) => one !== main)) {
    const part = `server '${name}'`;
    const used = await attempt(part, () => session.useModel(name, AbortSignal.timeout(TEST_LIMIT)));
    if ('failure' in used) yield used;
    else yield* answerFindings(part, session);
  }
}

/** Asks for one word, with all that a question has. */
async function* answerFindings(part: string, session: WiredSession['session']): AsyncGenerator<Finding> {
  const notices: string[] = [];
  const ask = async (expired: AbortSignal): Promise<string> => {
    for await (const event of session.tryOut('Answer with the one word: ready', expired)) {
      if (event.type === 'notice') notices.push(event.text);
      if (event.type === 'turn-end' && !expired.aborted) return JSON.stringify(event.text.trim().slice(0, 80));
    }
    expired.throwIfAborted();
    return 'nothing';
  };
  const forever = new AbortController().signal;
  yield await checkPart(part, () => withTimeout(TEST_LIMIT, forever, ask, TEST_HINT));
  for (const note of notices) yield { part, note };
}

/** What the server reports about the model. */
function* serverFacts(
  { memory: { facts }, context_window }: Target,
  { provider, model, window_is_set, api_base }: Config,
): Generator<Finding> {
  const member: ProviderMember = pick(providers, provider, 'provider');
  const title = serverTitle(member, api_base);
  const real = window_is_set ? (facts.server?.loaded_window ?? facts.context_window) : facts.context_window;
  if (real !== undefined) yield window(title, real, context_window);
  else if (publishedWindow(model) === null) yield { part: 'real window', note: `${title} does not say` };
  const takes = SHOWN.flatMap((feature) => {
    const can = facts.takes?.[feature];
    return can === undefined ? [] : [`${can ? '' : 'no '}${feature}`];
  });
  if (takes.length > 0) yield { part: 'capabilities', ok: takes.join(', ') };
}

/** The capabilities that matter to users; the others concern the format of requests. */
const SHOWN = ['tools', 'images', 'documents', 'audio'] as const;

/**
 * At a custom address, the provider's name only says which protocol is spoken, unless its servers are always the users'
 * own.
 */
function serverTitle({ title, ...member }: ProviderMember, address: string | null): string {
  if (address === null || member.ownHosts.length === 0 || isOwnAddress(member, address)) return title;
  return `'${new URL(address).host}'`;
}

/** A model that is sent more than its window silently forgets the oldest part. */
function window(title: string, real: number, configured: number): Finding {
  const part = 'real window';
  if (real >= configured) return { part, ok: `${real} tokens at ${title}` };
  return {
    part,
    failure: new HiError('config', `${title} gives this model ${real} tokens, not ${configured}.`, {
      hint: `Set context_window to ${real} in config.json, or configure ${title} to give the model more.`,
    }),
  };
}
