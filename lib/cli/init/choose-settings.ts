import { quantity } from '../../chat/text.js';
import type { ConfigFile } from '../../config/config.js';
import { maskKey, readKey } from '../../config/read-key.js';
import { baseOf } from '../../config/resolve.js';
import { HiError } from '../../errors.js';
import type { ProviderMember, ProviderSettings } from '../../providers/common/provider.js';
import { providers } from '../../providers/index.js';
import type { Prompts } from '../ask/asker.js';
import { probeModels } from '../base/settings.js';
import type { World } from '../base/world.js';
import { offerModel } from './first-model.js';

/** A provider, and whether a third-party server speaks its protocol. */
export interface Endpoint {
  readonly member: ProviderMember;
  readonly isCompatible: boolean;
}

/** A setting's value, and what the file will store: null if it comes from the environment. */
export interface StoredSetting {
  readonly value: string | null;
  readonly stored: string | null;
}

const UNSET: StoredSetting = { value: null, stored: null };

/** Asks for the provider. Lists the one of the previous set-up first, then those that are ready to use. */
export async function chooseProvider(world: World, previous: ConfigFile, prompts: Prompts): Promise<Endpoint> {
  const own = await Promise.all(
    providers.map(async (member) => ({ member, isCompatible: false, ready: await readiness(world, member) })),
  );
  const compatible = providers.flatMap((member) =>
    member.elsewhere === undefined ? [] : [{ member, isCompatible: true, ready: null }],
  );
  const rank = (one: (typeof own)[number]): number => (belongsTo(previous, one) ? 0 : one.ready === null ? 2 : 1);
  const endpoints = [...own, ...compatible].toSorted((one, other) => rank(one) - rank(other));
  const chosen = await prompts.select(
    'Which provider do you want to use?',
    endpoints.map(({ member, isCompatible, ready }, at) => {
      const title = isCompatible ? (member.elsewhere ?? '') : member.title;
      return [String(at), ready === null ? title : `${title} (${ready})`];
    }),
  );
  const endpoint = endpoints[Number(chosen)];
  if (endpoint === undefined) throw new Error(`There is no choice ${chosen}.`);
  return endpoint;
}

/** Whether the previous settings are for that endpoint. */
function belongsTo(previous: ConfigFile, { member, isCompatible }: Endpoint): boolean {
  return previous.provider === member.name && (!member.elsewhere || isCompatible === Boolean(previous.api_base));
}

/** Says why a provider is ready to use; null if something is missing. */
async function readiness(world: World, member: ProviderMember): Promise<string | null> {
  const variable = keyVariable(world, member);
  if (variable !== null) return `key in ${variable}`;
  if (member.keyVariables.length > 0) return null;
  const models = await probeModels(world, member.name, baseOf(member, world.env));
  if (models === null) return null;
  return models.length === 0 ? 'running, but it has no model yet' : `running, ${quantity(models.length, 'model')}`;
}

/** A key in this variable is meant for hi alone and wins over the file. */
const OWN_VARIABLE = 'HI_API_KEY';

function keyVariable(world: World, member: ProviderMember): string | null {
  if (member.keyVariables.length === 0) return null;
  return [OWN_VARIABLE, ...member.keyVariables].find((name) => world.env[name]?.trim()) ?? null;
}

/**
 * The key: from the environment or the previous file, or else typed without being shown. A key that was just refused is not used again.
 */
export async function chooseKey(
  world: World,
  endpoint: Endpoint,
  previous: ConfigFile,
  refused: boolean,
  prompts: Prompts,
): Promise<StoredSetting> {
  const { member, isCompatible } = endpoint;
  const variable = keyVariable(world, member);
  if (variable === OWN_VARIABLE || (variable !== null && !isCompatible && !refused)) {
    prompts.say(`Using the key in ${variable}.`);
    return { value: world.env[variable]?.trim() ?? null, stored: null };
  }
  if (member.keyVariables.length === 0) return UNSET;
  const stored = refused || !belongsTo(previous, endpoint) ? null : (previous.api_key ?? null);
  const whenEmpty =
    stored !== null ? `leave empty to keep ${maskKey(stored)}` : isCompatible ? 'leave empty if it needs none' : '';
  const question = keyQuestion(endpoint, whenEmpty);
  for (;;) {
    const typed = await prompts.secret(
      question,
      (text) => text.trim() !== '' || whenEmpty !== '' || 'Type or paste the key.',
    );
    const key = typed.trim() || stored;
    try {
      return { value: await readKey(key), stored: key };
    } catch (thrown) {
      if (!(thrown instanceof HiError)) throw thrown;
      printError(thrown, prompts);
    }
  }
}

function keyQuestion({ member, isCompatible }: Endpoint, whenEmpty: string): string {
  const hints = [isCompatible ? '' : `from ${member.keyPage}`, whenEmpty].filter((hint) => hint !== '').join('; ');
  const subject = isCompatible ? 'API key of the server' : `API key for ${member.title}`;
  return `${subject}${hints === '' ? '' : ` (${hints})`}:`;
}

/** The address. Asked for only if the server is the user's own and does not answer at its usual address. */
export async function chooseAddress(
  world: World,
  endpoint: Endpoint,
  previous: ConfigFile,
  prompts: Prompts,
): Promise<StoredSetting> {
  const { member, isCompatible } = endpoint;
  const stored = belongsTo(previous, endpoint) ? (previous.api_base ?? null) : null;
  if (isCompatible) {
    const typed = await prompts.input(
      `Address of the server, such as http://127.0.0.1:8080/v1${stored === null ? '' : ` (leave empty to keep ${stored})`}:`,
      (text) => (text === '' && stored !== null) || checkAddress(text),
    );
    const address = typed === '' ? stored : withScheme(typed);
    return { value: address, stored: address };
  }
  const given = world.env.HI_API_BASE || baseOf(member, world.env);
  if (member.keyVariables.length > 0) {
    return stored === null || world.env.HI_API_BASE ? { value: given, stored: null } : { value: stored, stored };
  }
  if (given !== null) return { value: given, stored: null };
  for (const known of [stored, null]) {
    if ((await probeModels(world, member.name, known)) !== null) return { value: known, stored: known };
  }
  prompts.say(`${member.title} does not answer on this machine.`);
  const typed = await prompts.input(
    'Address of the server (leave empty to try this machine again):',
    (text) => text === '' || checkAddress(text),
  );
  return typed === '' ? UNSET : { value: withScheme(typed), stored: withScheme(typed) };
}

function checkAddress(text: string): true | string {
  const address = withScheme(text);
  return (/^https?:\/\/[^\s/]/.test(address) && URL.canParse(address)) || `'${text}' is not an address.`;
}

/** An address as it is typed, `localhost:8080`: http for a port or a local machine, otherwise https. */
function withScheme(text: string): string {
  if (text.includes('://') || !/^[\w.[\]-]+(?::\d+)?(?:\/\S*)?$/.test(text)) return text;
  const host = text.split('/')[0] ?? '';
  const isNear = /:\d+$|^[\d.]+$/.test(host) || !host.includes('.');
  return `${isNear ? 'http' : 'https'}://${text}`;
}

/** The model: chosen from the server's list, downloaded, or typed if there is no list. Resolves to the error if the server refuses to answer. */
export async function chooseModel(
  world: World,
  { member }: Endpoint,
  settings: ProviderSettings,
  previous: ConfigFile,
  prompts: Prompts,
  signal: AbortSignal,
): Promise<string | HiError> {
  prompts.say('Fetching the list of models …');
  const listed = await list(member, settings, AbortSignal.any([signal, AbortSignal.timeout(20_000)]));
  signal.throwIfAborted();
  if (listed instanceof HiError) {
    printError(listed, prompts);
    if (!isWithoutList(listed)) return listed;
  } else if (listed.length > 0) {
    const usual = [previous.model, member.defaultModel].filter((name) => name !== undefined && listed.includes(name));
    return await prompts.search(
      'Which model?',
      [...new Set([...usual, ...listed])].filter((name) => name !== undefined),
    );
  } else if (member.keyVariables.length === 0) {
    const downloaded = member.pull && (await offerModel(world, { member, access: settings }, 'none', prompts, signal));
    if (downloaded) return downloaded;
    const hint = member.hints?.firstModel ?? 'Download one first.';
    const error = new HiError('model', `${member.title} has no model yet.`, { hint });
    printError(error, prompts);
    return error;
  }
  return await prompts.input('Name of the model:', (text) => text.trim() !== '' || 'Type the name of a model.');
}

async function list(
  member: ProviderMember,
  settings: ProviderSettings,
  signal: AbortSignal,
): Promise<readonly string[] | HiError> {
  try {
    return (await member.listModels(settings, signal)).map(({ name }) => name);
  } catch (thrown) {
    if (thrown instanceof HiError) return thrown;
    if (signal.aborted) return new HiError('network', 'The server did not list its models within 20 s.');
    throw thrown;
  }
}

/** Whether the server may be able to chat although it lists no models. */
function isWithoutList({ code }: HiError): boolean {
  return code === 'model' || code === 'request' || code === 'malformed';
}

/** Prints an error and its hint. The set-up goes on. */
export function printError({ message, hint }: HiError, prompts: Prompts): void {
  prompts.say(`${message}${hint === null ? '' : `\n  ${hint}`}`);
}
