import { existsSync } from 'node:fs';
import { findPaths } from '../../config/paths.js';
import { readConfig } from '../../config/read-config.js';
import { maskKey } from '../../config/read-key.js';
import { NoModel } from '../../config/resolve.js';
import type { ServerFile } from '../../config/server-settings.js';
import type { ModelSettings, NamedServer } from '../../config/setting.js';
import { validateConfig } from '../../config/validate-config.js';
import { writeConfig, writeSetting } from '../../config/write.js';
import { HiError } from '../../errors.js';
import { shownAddress } from '../../http/failures.js';
import { openInEditor } from '../../repl/terminal/external-editor.js';
import { neutralise } from '../../screen/text/neutralise.js';
import { writeJson } from '../base/command-output.js';
import type { CommonOptions } from '../base/options.js';
import { CONFIG_CHECK, readSettings, requireConfig, type SettingsOptions } from '../base/settings.js';
import type { World } from '../base/world.js';
import { SCHEMA } from '../config-check/config-schema.js';
import { init } from '../init/init.js';
import { checkCommand } from './check-command.js';
import { offerLuggage } from './found-luggage.js';

/** Prints the effective settings, keys masked. */
export async function configShowCommand(world: World, options: CommonOptions & SettingsOptions): Promise<number> {
  const settings = await readSettings(world, options);
  const { problem } = settings;
  // The server's list of models is not a setting: if it has no model, the rest is shown.
  const isWithout = problem instanceof NoModel;
  if (isWithout) world.stderr.write(`${neutralise(problem.message)}\n`);
  const config = requireConfig(isWithout ? await readSettings(world, { ...options, model: 'none' }) : settings);
  const small = config.small_model;
  // What config.json does not take is no setting.
  const { window_is_set: _set, key_source: _source, server: _server, ...settable } = config;
  const masked = {
    ...settable,
    ...(isWithout && { model: null }),
    ...shownReach(config),
    headers: hiddenValues(config.headers),
    small_model: small === null ? null : shownSmall(small),
    servers: Object.fromEntries(Object.entries(config.servers).map(([name, one]) => [name, shownNamed(one)])),
    mcpServers: Object.fromEntries(Object.entries(config.mcpServers).map(([name, file]) => [name, shownServer(file)])),
  };
  writeJson(world.stdout, masked, 2);
  return 0;
}

function shownSmall({ provider, model, context_window, ...reach }: ModelSettings) {
  return { provider, model, ...shownReach(reach), context_window };
}

/** A server by name, with what it leaves out left out. */
function shownNamed({ api_key, api_base, headers, ...rest }: NamedServer): NamedServer {
  const { api_key: key, api_base: address } = shownReach({ api_key: api_key ?? null, api_base: api_base ?? null });
  return {
    ...rest,
    ...(key !== null && { api_key: key }),
    ...(address !== null && { api_base: address }),
    ...(headers && { headers: hiddenValues(headers) }),
  };
}

/** The key and the address, with secrets masked. */
function shownReach({ api_key, api_base }: Pick<ModelSettings, 'api_key' | 'api_base'>) {
  return { api_key: maskKey(api_key), api_base: api_base === null ? null : shownAddress(api_base) };
}

/**
 * An MCP server with possible secrets masked: values of variables and headers, parts of the address, and arguments
 * after the first option.
 */
function shownServer({ env, headers, args, url, ...rest }: ServerFile): ServerFile {
  const option = (args ?? []).findIndex((arg) => arg.startsWith('-'));
  return {
    ...rest,
    ...(args && { args: args.map((arg, index) => (option < 0 || index <= option ? shownArgument(arg) : hidden(arg))) }),
    ...(env && { env: hiddenValues(env) }),
    ...(url !== undefined && { url: URL.canParse(url) ? shownAddress(url) : '***' }),
    ...(headers && { headers: hiddenValues(headers) }),
  };
}

/** An option keeps its name. */
const hidden = (arg: string): string => (arg.startsWith('-') ? shownArgument(arg) : '***');

const shownArgument = (arg: string): string => arg.replace(/^(-[^=]*=).*$/s, '$1***');

const hiddenValues = (values: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.keys(values).map((name) => [name, '***']));

/**
 * Sets one setting in `config.json`: `compaction.keep_recent 8`. The value is what the schema takes, JSON or else text.
 * Throws a `HiError` of code `usage` for what it does not take, and nothing is written then.
 */
export async function configSetCommand(
  world: World,
  key: string,
  text: string,
  options: CommonOptions,
): Promise<number> {
  const { configFile } = await findPaths(world.env, options.config ?? null);
  const names = key.split('.');
  const values = [...jsonIn(text), text];
  for (const value of values) {
    const { isWritten } = await writeSetting(configFile, names, value, (file) => CONFIG_CHECK.accepts(file));
    if (!isWritten) continue;
    if (!options.quiet) world.stderr.write(neutralise(`Set '${key}' in '${configFile}'.\n`));
    return 0;
  }
  const { file } = await writeSetting(configFile, names, values[0], () => false);
  try {
    validateConfig(file, await CONFIG_CHECK.explaining(), configFile);
  } catch (thrown) {
    if (!(thrown instanceof HiError)) throw thrown;
    const [, ...mistakes] = thrown.message.split('\n');
    throw new HiError('usage', `'${key}' cannot be set to that, and nothing was written:\n${mistakes.join('\n')}`, {
      hint: "'hi config schema' prints the allowed keys and values.",
      cause: thrown,
    });
  }
  return 0;
}

/** The value that a text is as JSON; none where it is no JSON. */
function jsonIn(text: string): readonly unknown[] {
  try {
    return [JSON.parse(text)];
  } catch {
    return [];
  }
}

/**
 * Opens `config.json` in the user's editor, and checks what was saved. Throws a `HiError` for what the schema does not
 * take: it is saved all the same.
 */
export async function configEditCommand(world: World, options: CommonOptions): Promise<number> {
  const { configFile } = await findPaths(world.env, options.config ?? null);
  if (world.stdinIs !== 'terminal' || world.stdout.isTTY !== true)
    throw new HiError('usage', 'An editor needs a terminal.', {
      hint: `Edit '${configFile}', or run: hi config set KEY VALUE`,
    });
  if (!existsSync(configFile)) await writeConfig(configFile, {});
  await openInEditor(configFile, world.env.VISUAL || world.env.EDITOR || null);
  await readConfig(configFile, CONFIG_CHECK, true);
  return 0;
}

/** Prints where the files are. */
export async function configPathCommand(
  world: World,
  options: CommonOptions & { readonly json?: boolean },
): Promise<number> {
  const paths = await findPaths(world.env, options.config ?? null);
  const { configFile, config, data, cache, ...rest } = paths;
  const named = {
    config_file: configFile,
    config,
    data,
    cache,
    skills: rest.skills,
    history: rest.history,
    log: rest.log,
  };
  const lines = Object.entries(named).map(([name, place]) => `${name.padEnd(12)} ${place}`);
  if (options.json) writeJson(world.stdout, named);
  else world.stdout.write(neutralise(`${lines.join('\n')}\n`));
  return 0;
}

/** Prints the JSON Schema of `config.json`. */
export async function configSchemaCommand(world: World): Promise<number> {
  writeJson(world.stdout, SCHEMA, 2);
  return 0;
}

/** Checks each part and says how to fix what failed. */
export async function configCheckCommand(
  world: World,
  options: CommonOptions & { readonly live?: boolean },
): Promise<number> {
  return await checkCommand(world, options);
}

/** Sets up step by step. */
export async function configInitCommand(world: World, options: CommonOptions): Promise<number> {
  const status = await init(world, options);
  if (status === 0) await offerLuggage(world, await findPaths(world.env, options.config ?? null));
  return status;
}
