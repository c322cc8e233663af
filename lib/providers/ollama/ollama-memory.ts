import type { JsonObject } from '../../chat/json.js';

/** The window where nothing tells what the memory holds: Ollama's own for machines of middling size. */
const USUAL = 32_768;

/** What any machine that holds the model can hold beside it: Ollama's own default. */
const LEAST = 4096;

/** The share of the memory beside the model that a conversation may take: other programs need some, and the estimate is one. */
const SHARE = 0.5;

/**
 * The largest window that fits the memory, a power of two, so that a little more or less memory changes nothing. `room` is the memory beside the model in bytes,
 * null where it is not known.
 */
export function affordableWindow(perToken: number | null, room: number | null): number {
  if (perToken === null || room === null) return USUAL;
  const tokens = Math.floor((SHARE * room) / perToken);
  return tokens <= LEAST ? LEAST : 2 ** Math.floor(Math.log2(tokens));
}

/** The bytes that a token of the conversation takes: a key and a value of two bytes a number, for every head of every layer. Null when the server does not tell. */
export function bytesPerToken(info: JsonObject): number | null {
  const fact = (end: string): unknown => Object.entries(info).find(([name]) => name.endsWith(end))?.[1];
  const layers = countOf(fact('.block_count'));
  const heads = countOf(fact('.attention.head_count'));
  const keyHeads = fact('.attention.head_count_kv') ?? heads;
  // Some models have another number of heads in each layer.
  const perLayer = Array.isArray(keyHeads) ? keyHeads.map((count) => Number(count) || 0) : null;
  const allHeads = perLayer?.reduce((sum, count) => sum + count, 0) ?? (layers ?? 0) * (countOf(keyHeads) ?? 0);
  const length = countOf(fact('.embedding_length'));
  const usual = length !== null && heads !== null ? length / heads : null;
  const key = countOf(fact('.attention.key_length')) ?? usual;
  const value = countOf(fact('.attention.value_length')) ?? key;
  if (allHeads === 0 || key === null || value === null) return null;
  return allHeads * (key + value) * 2;
}

const countOf = (value: unknown): number | null => (typeof value === 'number' && value > 0 ? value : null);
