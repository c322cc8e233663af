import { isJsonObject } from '../../chat/json.js';
import { optionName } from '../../chat/model.js';
import type { ChatRequest } from '../../chat/request.js';
import type { RequestRefusal } from '../../providers/common/provider.js';

/** Options whose names are common words: only a quoted name counts as the option. */
const COMMON_WORDS: ReadonlySet<string> = new Set(['user', 'stop', 'store', 'metadata', 'speed', 'transforms']);

/** The minimum length of the last word of a name that identifies an option by itself. */
const DISTINCT = 7;

/** Words that say two options exclude each other. */
const ONE_OF_THEM = /\bboth\b|only one|together|at the same time|mutually/i;

/** The user's options that the server names in its refusal, by their names in the configuration. Of two that exclude each other, the later one. */
export function refusedOptions(
  { said, param }: Pick<RequestRefusal, 'said' | 'param'>,
  { options = {}, facts }: Pick<ChatRequest, 'options' | 'facts'>,
): readonly string[] {
  const sent = Object.entries(options).filter((option) => !facts?.refused_options?.includes(optionName(option)));
  const named = sent.flatMap(([name, value]) => {
    const own = name === 'extra_body' && isJsonObject(value) ? Object.keys(value) : [name];
    return own.some((one) => isNamed(one, said, param)) ? [name] : [];
  });
  return named.length > 1 && ONE_OF_THEM.test(said) ? named.slice(-1) : named;
}

function isNamed(name: string, said: string, param: string | null): boolean {
  const camel = name.replace(/_(.)/g, (_all, letter: string) => letter.toUpperCase());
  const last = name.slice(name.lastIndexOf('_') + 1);
  const isOne = (word: string) => word === name || word === camel;
  if (param !== null) return isOne(param.replace(/^.*[.\]]/, ''));
  // Google says "Penalty is not enabled".
  if (last.length >= DISTINCT && said.toLowerCase().includes(last)) return true;
  if (!COMMON_WORDS.has(name)) return (said.match(/[\w-]+/g) ?? []).some(isOne);
  return (said.match(/(?<=['"`])\w+(?=['"`])/g) ?? []).some(isOne);
}
