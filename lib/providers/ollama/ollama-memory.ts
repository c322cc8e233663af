import type { JsonObject } from '../../chat/json.js';

/** The window if the memory is unknown: Ollama's own for medium-sized machines. */
const USUAL = 32_768;

/** A window for which every machine that can hold the model has memory: Ollama's own default. */
const LEAST = 4096;

/** The share of the remaining memory for a conversation: other programs need some, and the estimate is rough. */
const SHARE = 0.5;

/**
 * The largest window that fits the memory, a power of two, so that a little more or less memory changes nothing. `room` is the memory left next to the model in
 * bytes, null if unknown.
 */
export function affordableWindow(perToken: number | null, room: number | null): number {
  if (perToken === null || room === null) return USUAL;
  const tokens = Math.floor((SHARE * room) / perToken);
  return tokens <= LEAST ? LEAST : 2 ** Math.floor(Math.log2(tokens));
}

/** The bytes per token of the conversation: a key and a value of two bytes per number, for every head of every layer. Null if the server does not say. */
export function bytesPerToken(info: JsonObject): number | null {
  const fact = (end: string): unknown => Object.entries(info).find(([name]) => name.endsWith(end))?.[1];
  const layers = countOf(fact('.block_count'));
  const heads = countOf(fact('.attention.head_count'));
  const keyHeads = fact('.attention.head_count_kv') ?? heads;
  // Some models have a different number of heads in each layer.
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
