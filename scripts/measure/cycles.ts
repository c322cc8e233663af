/** The nodes that each node points to. */
export type Graph = ReadonlyMap<string, readonly string[]>;

/** The groups of nodes that reach one another, largest first. */
export function cycles(graph: Graph): readonly (readonly string[])[] {
  const reach = new Map([...graph.keys()].map((node) => [node, reached(graph, node)]));
  const left = new Set(graph.keys());
  const found: string[][] = [];
  for (const node of graph.keys()) {
    if (!left.has(node) || !reach.get(node)?.has(node)) continue;
    const group = [...left].filter((other) => reach.get(node)?.has(other) && reach.get(other)?.has(node));
    for (const member of group) left.delete(member);
    found.push(group);
  }
  return found.sort((one, other) => other.length - one.length);
}

/** The nodes that can be reached from a node; the node itself only through a cycle. */
function reached(graph: Graph, start: string): ReadonlySet<string> {
  const found = new Set<string>();
  const open = [...(graph.get(start) ?? [])];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (found.has(node)) continue;
    found.add(node);
    for (const next of graph.get(node) ?? []) open.push(next);
  }
  return found;
}
