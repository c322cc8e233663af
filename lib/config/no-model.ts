import type { Vendor } from '../chat/model.js';
import { capitalised, firstCharacters } from '../chat/text.js';
import { HiError } from '../errors.js';

/** A model that a server lists. */
export interface OfferedModel {
  readonly name: string;
  /** False for a model with another purpose, such as embeddings. */
  readonly chats: boolean;
}

/** No model is set, and none could be chosen. */
export class NoModel extends HiError {}

const NAME_ONE = 'Choose one with -m NAME, HI_MODEL, or `model` in config.json.';

/** The error for a server that lists no chat model. */
export function noneListed(vendor: Vendor, address: string | null, listed: readonly OfferedModel[]): NoModel {
  const where = placeOf(vendor, address);
  if (listed.length === 0) {
    const hint = vendor.hints?.firstModel ?? 'Load one there first.';
    return new NoModel('model', capitalised(`${where} has no model.`), { hint });
  }
  const names = firstCharacters(listed.map(({ name }) => name).join(', '), 200);
  return new NoModel('model', `No model is set, and ${where} lists no chat model: ${names}.`, { hint: NAME_ONE });
}

/** The error for a server that does not list its models. If it rejects the key or cannot be reached, naming a model would not help. */
export function notListed(vendor: Vendor, address: string | null, { code, message, hint }: HiError): NoModel {
  if (code === 'key' || code === 'network') return new NoModel(code, message, hint === null ? {} : { hint });
  const text = `No model is set, and ${placeOf(vendor, address)} does not list any: ${message}`;
  return new NoModel(code, text, { hint: hint === null ? NAME_ONE : `${NAME_ONE} ${hint}` });
}

const placeOf = ({ title, keyVariables }: Vendor, address: string | null): string => {
  if (address === null) return title;
  const shown = `'${withMaskedLogIn(address)}'`;
  return keyVariables.length === 0 ? `${title} at ${shown}` : `the server at ${shown}`;
};

/** The address without its user name and password. */
export const withMaskedLogIn = (address: string): string => address.replace(/\/\/[^@/]*@/, '//***@');

/** The result of asking a local server, which needs no key, for its models. */
export interface LocalServer {
  readonly vendor: Vendor;
  readonly address: string | null;
  /** True if it answers but has no model. */
  readonly answers: boolean;
}

/** The error for a missing configuration. It names the expected file and the quickest fixes. */
export function notConfigured(configFile: string, vendors: readonly Vendor[], locals: readonly LocalServer[]): HiError {
  const variables = vendors.flatMap((vendor) => vendor.keyVariables.slice(0, 1));
  const found = locals.map(({ vendor, address, answers }) =>
    answers ? `${placeOf(vendor, address)} has no model` : `${placeOf(vendor, address)} does not answer`,
  );
  const fixes = locals.flatMap(({ vendor: { title, hints, baseVariable }, address, answers }) => {
    if (answers) return hints?.firstModel === undefined ? [] : [`For ${title}: ${uncapitalised(hints.firstModel)}`];
    return address === null ? [] : [`Or start ${title} there, or correct ${baseVariable}.`];
  });
  return new HiError(
    'config',
    `hi is not configured: there is no '${configFile}', no API key in the environment, and ${found.join(' and ')}.`,
    { hint: [`Run 'hi config init', or set one of ${variables.join(', ')}.`, ...fixes].join(' ') },
  );
}

const uncapitalised = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
