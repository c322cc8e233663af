import type { ChalkInstance } from 'chalk';
import type { Paths } from '../../config/paths.js';
import { EXIT_STATUS, HiError } from '../../errors.js';
import { prepareCodec } from '../../history/file/frames/codec.js';
import { describeRule } from '../../permission/rules/rules.js';
import { SANDBOX_HINT, sandboxKind, sandboxProblem } from '../../permission/sandbox/sandbox.js';
import { neutralise } from '../../screen/text/neutralise.js';
import type { CommonOptions } from '../base/command-options.js';
import { usableServers } from '../base/configured-servers.js';
import { orphanRules } from '../base/orphan-rules.js';
import { requireWritable } from '../base/require-writable.js';
import { readSettings, requireConfig } from '../base/settings.js';
import type { World } from '../base/world.js';
import { clipboardMethod } from '../chat/clipboard.js';
import { colours } from '../terminal/colours.js';
import { openSession, type WiredSession } from '../wiring/wire.js';
import { attempt, checkPart, type Finding } from './check-finding.js';
import { modelFindings } from './check-model.js';
import { systemFindings } from './check-system.js';
import { findSkills } from './skills-command.js';

export interface CheckOptions extends CommonOptions {
  readonly live?: boolean;
}

/**
 * Checks everything `hi` needs and prints a line for each part. Only `live` asks the vendor: for its models, and for one word, with all that the model once
 * refused.
 * Resolves to 0 when nothing failed, else to the exit status of the first failure.
 */
export async function checkCommand(world: World, options: CheckOptions): Promise<number> {
  let status = 0;
  const colour = colours(world);
  for await (const finding of findings(world, options)) {
    world.stdout.write(lineOf(finding, colour));
    if ('failure' in finding) status ||= EXIT_STATUS[finding.failure.code];
  }
  return status;
}

function lineOf(finding: Finding, colour: ChalkInstance): string {
  const { part } = finding;
  if ('ok' in finding) return `${colour.green('ok')}     ${part}: ${neutralise(finding.ok)}\n`;
  if ('note' in finding) return `${colour.dim('-')}      ${part}: ${neutralise(finding.note)}\n`;
  const { message, hint } = finding.failure;
  return `${colour.red('fail')}   ${part}: ${neutralise(`${message}\n${hint === null ? '' : `       ${hint}\n`}`)}`;
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
