import { isJsonObject, type JsonObject, type JsonValue } from '../../chat/json.js';

/** An element with a new id, and its references to other elements updated to their new ids. Unknown fields stay as they are. */
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

/** The state of a block: which messages stay in view, and which are shortened. */
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
