import { isJsonObject, type JsonObject, type JsonValue } from '../../chat/json.js';

/** An element with a new id, and its references to other elements updated to their new ids. Unknown fields are unchanged. */
export function renumber(element: JsonObject, id: number, newId: (old: number) => number): JsonObject {
  const { turn, turns, first_kept, state, message, messages, pins, restores } = element;
  const one = (value: JsonValue | undefined): JsonValue => (typeof value === 'number' ? newId(value) : (value ?? null));
  const moved: JsonObject = { ...element, id };
  return {
    ...moved,
    ...(turn === undefined ? {} : { turn: one(turn) }),
    ...(isList(turns) ? { turns: turns.map(one) } : {}),
    ...(first_kept === undefined ? {} : { first_kept: one(first_kept) }),
    ...(isJsonObject(state) ? { state: renumberedState(state, one) } : {}),
    ...(typeof restores === 'number' && restores > 0 ? { restores: one(restores) } : {}),
    ...(isJsonObject(message) ? { message: renumberedMessage(message, one) } : {}),
    ...(isList(messages) ? { messages: messages.map(one) } : {}),
    ...(isJsonObject(pins) ? { pins: renumberedPins(pins, one) } : {}),
  };
}

type NewId = (value: JsonValue | undefined) => JsonValue;

const renumberedMessage = (message: JsonObject, one: NewId): JsonObject => ({
  ...message,
  id: one(message.id),
  turn: one(message.turn),
});

/** The pins of a block. */
function renumberedPins(pins: JsonObject, one: NewId): JsonObject {
  const messages = isList(pins.messages) ? pins.messages : [];
  return {
    ...pins,
    until: one(pins.until),
    messages: messages.map((message) => (isJsonObject(message) ? renumberedMessage(message, one) : message)),
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
