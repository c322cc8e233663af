import { isJsonObject, type JsonObject, type JsonValue } from '../../chat/json.js';

/** An element under another id, with every reference to other elements made one to their new ids. What is not known here stays as it is. */
export function renumber(element: JsonObject, id: number, newId: (old: number) => number): JsonObject {
  const { turn, turns, first_kept, state } = element;
  const one = (value: JsonValue | undefined): JsonValue => (typeof value === 'number' ? newId(value) : (value ?? null));
  const moved: JsonObject = { ...element, id };
  return {
    ...moved,
    ...(turn === undefined ? {} : { turn: one(turn) }),
    ...(isList(turns) ? { turns: turns.map(one) } : {}),
    ...(first_kept === undefined ? {} : { first_kept: one(first_kept) }),
    ...(isJsonObject(state) ? { state: renumberedState(state, one) } : {}),
  };
}

/** What a block says of the messages that stay in view, and of those it shows shortened. */
function renumberedState(state: JsonObject, one: (value: JsonValue | undefined) => JsonValue): JsonObject {
  const { cut } = state;
  const lists = ['also', 'open', 'pruned'].flatMap((name) => {
    const value = state[name];
    return isList(value) ? [[name, value.map(one)] as const] : [];
  });
  const place = isJsonObject(cut) ? { cut: { ...cut, turn: one(cut.turn), id: one(cut.id) } } : {};
  return { ...state, ...Object.fromEntries(lists), ...place };
}

function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}
