import type { ConfigFile } from '../../config/config.js';
import { maskKey, readKey } from '../../config/read-key.js';
import { baseOf } from '../../config/resolve.js';
import type { NamedServer } from '../../config/setting.js';
import { HiError } from '../../errors.js';
import type { ProviderMember, ProviderSettings } from '../../providers/common/provider.js';
import { providers } from '../../providers/index.js';
import { KNOWN_SERVERS, type KnownServer } from '../../servers/known-servers.js';
import type { Prompts } from '../ask/asker.js';
import { listModels, probeModels } from '../base/settings.js';
import type { World } from '../base/world.js';
import { offerModel } from './first-model.js';
import { type FoundServer, keyVariable, OWN_VARIABLE, ofService } from './found-servers.js';

/** A provider, and whether a third-party server or a service speaks its protocol. */
export interface Endpoint {
  readonly member: ProviderMember;
  readonly isCompatible: boolean;
  /** The server, if it was found and needs no more than a model. */
  readonly found?: FoundServer;
}

/** A setting's value, and what the file will store: null if it comes from the environment. */
export interface StoredSetting {
  readonly value: string | null;
  readonly stored: string | null;
}

const UNSET: StoredSetting = { value: null, stored: null };

/** Asks for the provider. Lists the one of the previous set-up first, then those that are ready to use. */
export async function chooseProvider(
  world: World,
  found: readonly FoundServer[],
  previous: ConfigFile,
  prompts: Prompts,
): Promise<Endpoint> {
  const isFound = (member: ProviderMember): boolean => found.some((one) => one.member === member && !one.isThird);
  const endpoints: readonly Endpoint[] = [
    ...found.map((one) => ({ member: one.member, isCompatible: one.isThird, found: one })),
    ...providers.filter((member) => !isFound(member)).map((member) => ({ member, isCompatible: false })),
    ...providers.flatMap((member) => (member.elsewhere === undefined ? [] : [{ member, isCompatible: true }])),
  ];
  const ordered = endpoints.toSorted((one, other) => rankOf(one, previous) - rankOf(other, previous));
  const services = servicesIn(world.env).filter(({ name }) => !found.some(({ service }) => service?.name === name));
  const choices = ordered.map((endpoint, at): readonly [string, string] => [String(at), titleOf(endpoint)]);
  // Two of them, so that the choice fits into a narrow terminal.
  const some = services.slice(0, 2).map(({ title }) => title);
  const more: readonly [string, string] = ['service', `${some.join(', ')} …`];
  const place = ordered.findIndex(({ isCompatible, found }) => isCompatible && found === undefined);
  const chosen = await prompts.select(
    'Which provider do you want to use?',
    services.length === 0 ? choices : choices.toSpliced(place, 0, more),
  );
  if (chosen === 'service') return await chooseService(world, services, prompts);
  const endpoint = ordered[Number(chosen)];
  if (endpoint === undefined) throw new Error(`There is no choice ${chosen}.`);
  return endpoint;
}

/** The services whose address is known. */
const servicesIn = (env: World['env']): readonly KnownServer[] =>
  KNOWN_SERVERS.filter(({ address }) => address(env) !== null);

async function chooseService(world: World, services: readonly KnownServer[], prompts: Prompts): Promise<Endpoint> {
  const chosen = await prompts.select(
    'Which service?',
    services.map(({ name, title }) => [name, title] as const),
  );
  const service = services.find(({ name }) => name === chosen);
  if (service === undefined) throw new Error(`There is no service ${chosen}.`);
  const found = ofService(world, service);
  return { member: found.member, isCompatible: true, found };
}

const rankOf = (endpoint: Endpoint, previous: ConfigFile): number =>
  belongsTo(previous, endpoint) ? 0 : endpoint.found === undefined ? 2 : 1;

function titleOf({ member, isCompatible, found }: Endpoint): string {
  if (found === undefined) return isCompatible ? (member.elsewhere ?? '') : member.title;
  if (found.service !== undefined) return `${found.service.title} (${found.why})`;
  const name = isCompatible && found.address !== null ? `Server at ${new URL(found.address.url).host}` : member.title;
  return `${name} (${found.why})`;
}

/** Whether the previous settings are for that endpoint. */
function belongsTo(previous: ConfigFile, { member, isCompatible, found }: Endpoint): boolean {
  if (found?.service !== undefined) return Object.hasOwn(previous.servers ?? {}, found.service.name);
  if (previous.provider !== member.name) return false;
  if (!member.elsewhere) return true;
  const isSame = found?.address?.isStored !== true || found.address.url === previous.api_base;
  return isSame && isCompatible === Boolean(previous.api_base);
}

/** The previous settings of that endpoint: those of a service are in `servers`. */
const settingsOf = (previous: ConfigFile, { found }: Endpoint): ConfigFile | NamedServer =>
  found?.service === undefined ? previous : (previous.servers?.[found.service.name] ?? {});

/**
 * The key: from the environment or the previous file, or else typed without being shown. A key that was just refused is
 * not used again.
 */
export async function chooseKey(
  world: World,
  endpoint: Endpoint,
  previous: ConfigFile,
  refused: boolean,
  prompts: Prompts,
): Promise<StoredSetting> {
  const { member, isCompatible, found } = endpoint;
  const variable = keyVariable(world, member, found?.service);
  const isTheirs = found?.service !== undefined || !isCompatible;
  if (variable === OWN_VARIABLE || (variable !== null && isTheirs && !refused)) {
    prompts.say(`Using the key in ${variable}.`);
    return { value: world.env[variable]?.trim() ?? null, stored: null };
  }
  if (member.keyVariables.length === 0 || (!isTheirs && found !== undefined && !refused)) return UNSET;
  const stored = refused || !belongsTo(previous, endpoint) ? null : (settingsOf(previous, endpoint).api_key ?? null);
  const whenEmpty =
    stored !== null ? `leave empty to keep ${maskKey(stored)}` : !isTheirs ? 'leave empty if it needs none' : '';
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

function keyQuestion({ member, isCompatible, found }: Endpoint, whenEmpty: string): string {
  if (found?.service !== undefined) return `API key for ${found.service.title}${whenEmpty && ` (${whenEmpty})`}:`;
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
  const { member, isCompatible, found } = endpoint;
  const stored = belongsTo(previous, endpoint) ? (previous.api_base ?? null) : null;
  if (isCompatible && found?.address)
    return { value: found.address.url, stored: found.address.isStored ? found.address.url : null };
  if (isCompatible) {
    const typed = await prompts.input(
      `Address of the server, such as http://127.0.0.1:8080/v1${stored === null ? '' : ` (leave empty to keep ${stored})`}:`,
      (text) => (text === '' && stored !== null) || checkAddress(text),
    );
    const address = typed === '' ? stored : await withPath(world, member, withScheme(typed));
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

/** The address, with the usual path of the protocol where only that answers. */
async function withPath(world: World, member: ProviderMember, address: string): Promise<string> {
  const longer = `${address.replace(/\/$/, '')}/v1`;
  if (new URL(address).pathname !== '/' || (await answers(world, member, address))) return address;
  return (await answers(world, member, longer)) ? longer : address;
}

/** Whether a server lists its models there, or refuses to without a key. */
async function answers(world: World, member: ProviderMember, address: string): Promise<boolean> {
  try {
    await listModels(world, member, { apiBase: address, apiKey: null });
    return true;
  } catch (thrown) {
    return thrown instanceof HiError && thrown.code === 'key';
  }
}

/**
 * The model: the only one of the user's own server, chosen from a list, downloaded, or typed if there is no list.
 * Resolves to the error if the server refuses to answer.
 */
export async function chooseModel(
  world: World,
  endpoint: Endpoint,
  settings: ProviderSettings,
  previous: ConfigFile,
  prompts: Prompts,
  signal: AbortSignal,
): Promise<string | HiError> {
  const { member, isCompatible, found } = endpoint;
  const { model: before } = settingsOf(previous, endpoint);
  const usualModel = found?.service === undefined ? member.defaultModel : found.service.model(world.env);
  prompts.say('Fetching the list of models …');
  const listed = await list(member, settings, AbortSignal.any([signal, AbortSignal.timeout(20_000)]));
  signal.throwIfAborted();
  if (listed instanceof HiError) {
    printError(listed, prompts);
    if (!isWithoutList(listed)) return listed;
  } else if (listed[0] !== undefined && listed.length === 1 && (isCompatible || found !== undefined)) {
    return listed[0];
  } else if (listed.length > 0) {
    const usual = [before, usualModel].filter((name) => name && listed.includes(name));
    return await prompts.search(
      'Which model?',
      [...new Set([...usual, ...listed])].filter((name) => typeof name === 'string'),
    );
  } else if (member.keyVariables.length === 0) {
    const downloaded = member.pull && (await offerModel(world, { member, access: settings }, 'none', prompts, signal));
    if (downloaded) return downloaded;
    const hint = member.hints?.firstModel ?? 'Download one first.';
    const error = new HiError('model', `${member.title} has no model yet.`, { hint });
    printError(error, prompts);
    return error;
  }
  const typed = await prompts.input(
    `Name of the model${before === undefined ? '' : ` (leave empty to keep ${before})`}:`,
    (text) => text.trim() !== '' || before !== undefined || 'Type the name of a model.',
  );
  return typed.trim() || (before ?? '');
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
