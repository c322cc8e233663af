import { isJsonObject, type JsonObject } from '../../chat/json.js';
import { objectIn, textIn, timeOf } from './fields.js';

/** A conversation as a tree: its messages by id, and how one names the one before it and its time. */
interface Tree {
  readonly nodes: JsonObject;
  /** The id of the message that the user saw last; empty if that is unknown. */
  readonly current: string;
  /** The field with the id of the message before. */
  readonly parent: string;
  timeOf(node: JsonObject): string;
  /** Called if the tree leads back into itself. */
  onCycle(): void;
}

/**
 * The ids from the first message to the current one, or to the newest that nothing follows where the current one is
 * missing.
 */
export function branchOf({ nodes, current, parent, timeOf: time, onCycle }: Tree): readonly string[] {
  const branch: string[] = [];
  const seen = new Set<string>();
  for (let id = isJsonObject(nodes[current]) ? current : newestLeaf(nodes, parent, time); id !== null; ) {
    if (seen.has(id)) {
      onCycle();
      break;
    }
    seen.add(id);
    branch.push(id);
    const before: string = textIn(objectIn(nodes, id), parent);
    id = isJsonObject(nodes[before]) ? before : null;
  }
  return branch.reverse();
}

function newestLeaf(nodes: JsonObject, parent: string, time: Tree['timeOf']): string | null {
  const parents = new Set(Object.values(nodes).map((node) => (isJsonObject(node) ? textIn(node, parent) : '')));
  let newest: { readonly id: string; readonly at: string } | null = null;
  for (const [id, node] of Object.entries(nodes)) {
    if (parents.has(id) || !isJsonObject(node)) continue;
    const at = time(node);
    if (newest === null || at >= newest.at) newest = { id, at };
  }
  return newest?.id ?? Object.keys(nodes).at(-1) ?? null;
}

/** The time in the field of that name. */
export const timeIn =
  (name: string) =>
  (node: JsonObject): string =>
    timeOf(node[name]);
