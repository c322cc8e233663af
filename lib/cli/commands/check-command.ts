import type { ChalkInstance } from 'chalk';
import type { Config } from '../../config/config.js';
import { publishedWindow } from '../../config/models.js';
import type { Paths } from '../../config/paths.js';
import { isOwnAddress } from '../../config/resolve.js';
import { EXIT_STATUS, HiError } from '../../errors.js';
import { loadCodec } from '../../history/file/frames.js';
import { sandboxWrapper } from '../../permission/sandbox.js';
import type { ProviderMember } from '../../providers/common/provider.js';
import { providers } from '../../providers/index.js';
import { pick } from '../../registry.js';
import { neutralise } from '../../screen/sanitize.js';
import { colours } from '../base/colours.js';
import type { CommonOptions } from '../base/command-options.js';
import { requireWritable } from '../base/require-writable.js';
import { readSettings, requireConfig, type Settings } from '../base/settings.js';
import type { World } from '../base/world.js';
import { clipboardMethod } from '../chat/clipboard.js';
import { openSession, type WiredSession } from '../wiring/wire.js';
import { findSkills } from './skills-command.js';

export interface CheckOptions extends CommonOptions {
  readonly live?: boolean;
}

/** One thing that was looked at: right, wrong with how to mend it, or only to be known. */
type Finding = { readonly part: string } & (
  | { readonly ok: string }
  | { readonly wrong: HiError }
  | { readonly note: string }
);

/**
 * Looks at everything `hi` needs, part by part, and prints a line for each. The vendor is asked only with `live`: for its models, and for one word.
 * Resolves to 0 when all is right, else to the exit status of the first thing that is not.
 */
export async function check(world: World, options: CheckOptions): Promise<number> {
  let status = 0;
  const colour = colours(world);
  for await (const finding of findings(world, options)) {
    world.stdout.write(lineOf(finding, colour));
    if ('wrong' in finding) status ||= EXIT_STATUS[finding.wrong.code];
  }
  return status;
}

function lineOf(finding: Finding, colour: ChalkInstance): string {
  const { part } = finding;
  if ('ok' in finding) return `${colour.green('ok')}     ${part}: ${neutralise(finding.ok)}\n`;
  if ('note' in finding) return `${colour.dim('-')}      ${part}: ${neutralise(finding.note)}\n`;
  const { message, hint } = finding.wrong;
  return `${colour.red('wrong')}  ${part}: ${neutralise(`${message}\n${hint === null ? '' : `       ${hint}\n`}`)}`;
}

async function* findings(world: World, options: CheckOptions): AsyncGenerator<Finding> {
  yield await look('zstd', async () => loadCodec().name);
  const settings = await attempt('file', () => readSettings(world, options));
  if ('wrong' in settings) return yield settings;
  const { paths, file, warnings } = settings.value;
  yield { part: 'file', ok: file === null ? `none at '${paths.configFile}', which is fine` : paths.configFile };
  for (const warning of warnings) yield { part: 'file', wrong: new HiError('config', warning) };
  yield* folders(paths);
  yield* skills(world, options);
  yield { part: 'clipboard', ok: clipboardMethod(world) };
  const config = await attempt('provider', async () => requireConfig(settings.value));
  if ('wrong' in config) return yield config;
  const opened = await attempt('history', () => openSession(world, { ...options, ephemeral: true }));
  if ('wrong' in opened) return yield opened;
  yield* conversation(opened.value);
  yield await sandbox(opened.value);
  yield* vendor(settings.value, opened.value, options);
}

async function* folders({ config, data, cache }: Paths): AsyncGenerator<Finding> {
  for (const [part, folder] of [
    ['settings folder', config],
    ['data folder', data],
    ['cache folder', cache],
  ] as const)
    yield await look(part, async () => {
      await requireWritable(folder);
      return folder;
    });
}

async function* skills(world: World, options: CheckOptions): AsyncGenerator<Finding> {
  const found = await attempt('skills', () => findSkills(world, options));
  if ('wrong' in found) return yield found;
  yield { part: 'skills', ok: `${found.value.skills.length}` };
  for (const { path, reason } of found.value.warnings) yield { part: 'skills', note: `'${path}' ${reason}` };
}

async function* conversation({ session, settings }: WiredSession): AsyncGenerator<Finding> {
  const { history } = settings.paths;
  const { totals } = session.history;
  const verified = await attempt('history', () => session.history.verify());
  if ('wrong' in verified) yield verified;
  else {
    const { problems, lost = [] } = verified.value;
    const ok = `${totals.messages} messages in '${history}', all of it read and whole`;
    yield problems.length > 0 ? damaged(history, problems) : { part: 'history', ok };
    if (lost.length > 0) yield lostAttachments(lost);
  }
  for (const note of session.history.takeNotices()) yield { part: 'history', note };
}

function damaged(history: string, problems: readonly string[]): Finding {
  const wrong = new HiError('history', `'${history}' is damaged: ${problems.join(' ')}`, {
    hint: 'The next message, or hi history, saves every message that can be read and keeps the damaged file beside it.',
  });
  return { part: 'history', wrong };
}

function lostAttachments(lost: readonly string[]): Finding {
  const wrong = new HiError('history', `Missing or altered: ${lost.join(', ')}.`, {
    hint: 'Attach the same files again to bring them back; until then the model is told that they are no longer there.',
  });
  return { part: 'attachments', wrong };
}

async function sandbox({ config, tools }: WiredSession): Promise<Finding> {
  const isOn = config.tools.sandbox !== false;
  const tried = await attempt('sandbox', () => sandboxWrapper(tools.sandbox ?? { network: false, hidden: [] }, tools));
  if ('value' in tried)
    return { part: 'sandbox', ok: isOn ? 'on, and it works' : 'off; it would work here (tools.sandbox turns it on)' };
  return isOn ? tried : { part: 'sandbox', note: 'off, and it could not be turned on here' };
}

async function* vendor(settings: Settings, wired: WiredSession, options: CheckOptions): AsyncGenerator<Finding> {
  const { session, config } = wired;
  const key = await attempt('key', () => session.target.connect());
  if ('wrong' in key) return yield key;
  yield { part: 'key', ok: config.api_key === null ? 'none is needed' : 'there is one' };
  yield { part: 'model', ok: `${config.provider}/${config.model}` };
  yield await contextWindow(settings, config);
  yield* trigger(config);
  yield summaries(settings, config);
  if (options.live) yield* live(wired);
  else yield { part: 'reachability', note: 'not tried; hi config check --live does, with one small call' };
}

async function contextWindow({ file }: Settings, { model, context_window }: Config): Promise<Finding> {
  const part = 'context window';
  if (file?.context_window === context_window) return { part, ok: `${context_window} tokens, as the file says` };
  if (publishedWindow(model) === context_window) return { part, ok: `${context_window} tokens` };
  const note = `taken to be ${context_window} tokens: nobody publishes that of '${model}'. Set context_window in config.json`;
  return { part, note };
}

/** The number is the user's own, so nothing brings it down to what the model can take. */
function* trigger({ max_input_tokens, context_window, compaction }: Config): Generator<Finding> {
  if (max_input_tokens === null || max_input_tokens <= context_window) return;
  const text = `max_input_tokens is ${max_input_tokens}, more than the context window of ${context_window}, so it has no effect.`;
  const most = Math.floor(compaction.trigger_ratio * context_window);
  const hint = `Set max_input_tokens to ${most} or less, or remove it. If the model has a larger window, set context_window.`;
  yield { part: 'max_input_tokens', wrong: new HiError('config', text, { hint }) };
}

/** Which model writes the summaries, and why it is not the vendor's fast one. */
function summaries({ file }: Settings, { provider, model, api_base, small_model }: Config): Finding {
  const part = 'summaries';
  if (small_model !== null) return { part, ok: `${small_model.provider}/${small_model.model} writes them` };
  const { fastModel, ...member }: ProviderMember = pick(providers, provider, 'provider');
  const main = `the main model, ${model}, writes them`;
  if (file?.small_model === null) return { part, ok: `${main}, as the file says` };
  if (fastModel === model) return { part, ok: main };
  if (fastModel === null || isOwnAddress(member, api_base)) {
    return { part, note: `${main}. Set small_model in config.json to have a faster one do it` };
  }
  const host = api_base === null ? '' : new URL(api_base).host;
  return {
    part,
    note: `${main}: whether '${host}' has '${fastModel}' cannot be known. Set small_model in config.json to have a faster one do it`,
  };
}

async function* live({ session, config, connections }: WiredSession): AsyncGenerator<Finding> {
  const listed = await attempt('reachability', () => connections.models(session.target));
  if ('value' in listed) {
    yield { part: 'reachability', ok: `the server lists ${listed.value.length} models` };
    if (!listed.value.includes(config.model)) yield { part: 'model', note: `'${config.model}' is not on that list` };
  } else if (['network', 'key'].includes(listed.wrong.code)) return yield listed;
  else yield { part: 'reachability', note: `there is a server, but no list of models: ${listed.wrong.message}` };
  yield await look('answer', async () => {
    for await (const event of session.aside('Answer with the one word: ready', AbortSignal.timeout(60_000))) {
      if (event.type === 'turn-end') return JSON.stringify(event.text.trim().slice(0, 80));
    }
    return 'nothing';
  });
  const member: ProviderMember = pick(providers, config.provider, 'provider');
  if (member.realWindow === undefined) return;
  const real = await attempt('real window', () => connections.window(session.target));
  yield 'wrong' in real ? real : window(member.title, real.value, config.context_window);
}

/** A model that has less than it is sent forgets the oldest part without a word. */
function window(title: string, real: number | null, configured: number): Finding {
  const part = 'real window';
  if (real === null) return { part, note: `${title} does not tell` };
  if (real >= configured) return { part, ok: `${real} tokens at ${title}` };
  return {
    part,
    wrong: new HiError('config', `${title} gives this model ${real} tokens, not ${configured}.`, {
      hint: `Set context_window to ${real} in config.json, or give the model more there.`,
    }),
  };
}

async function look(part: string, see: () => Promise<string>): Promise<Finding> {
  const seen = await attempt(part, see);
  return 'wrong' in seen ? seen : { part, ok: seen.value };
}

async function attempt<Value>(
  part: string,
  make: () => Promise<Value>,
): Promise<{ readonly part: string; readonly wrong: HiError } | { readonly value: Value }> {
  try {
    return { value: await make() };
  } catch (thrown) {
    if (thrown instanceof HiError) return { part, wrong: thrown };
    throw thrown;
  }
}
