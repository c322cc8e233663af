/** A skill file taken apart. */
export interface SplitText {
  /** The lines between the two `---`, or null when the file has no frontmatter. */
  readonly yaml: string | null;
  readonly body: string;
  /** Why the frontmatter cannot be told from the text, or null. */
  readonly problem: string | null;
}

/** What a frontmatter says. Values are strings, lists and maps of strings: nothing in it is meant to be a number or a date. */
export interface Fields {
  readonly fields: Readonly<Record<string, unknown>>;
  /** What is wrong with it, naming the line of the file, or null. The fields are then those that could be made out. */
  readonly problem: string | null;
}

/** Takes a frontmatter off a text whose lines end in `\n`. Never fails: one that is opened and never closed is text. */
export function splitFrontmatter(text: string): SplitText {
  if (!/^---[ \t]*\n/.test(text)) return { yaml: null, body: text, problem: null };
  const start = text.indexOf('\n') + 1;
  const end = /^(?:---|\.\.\.)[ \t]*(?:\n|$)/m.exec(text.slice(start));
  if (!end) return { yaml: null, body: text, problem: 'line 1: the frontmatter opened here is never closed by "---"' };
  return {
    yaml: text.slice(start, start + end.index),
    body: text.slice(start + end.index + end[0].length),
    problem: null,
  };
}

/** Reads a frontmatter leniently. Never fails: what is no YAML is read line by line as `key: value`. */
export async function readFields(yaml: string): Promise<Fields> {
  if (yaml.split('\n').every((line) => UNMISTAKABLE.test(line))) return { fields: fieldsByLine(yaml), problem: null };
  const { FAILSAFE_SCHEMA, load } = await import('js-yaml');
  try {
    const value: unknown = load(yaml, { schema: FAILSAFE_SCHEMA });
    if (isFields(value)) return { fields: value, problem: null };
    return { fields: {}, problem: 'line 2: the frontmatter is not a list of "key: value" lines' };
  } catch (error) {
    return { fields: fieldsByLine(yaml), problem: complaint(error) };
  }
}

/** True for a map of fields, as opposed to a list or a single value. */
export function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * A line that YAML and `key: value` read alike: a comment, nothing, or a plain or simply quoted value. Most skill files have
 * no other lines, and the YAML library costs more than everything else about reading them.
 */
const UNMISTAKABLE = /^(?:#.*|[ \t]*|[\w-]+:[ \t]+(?:"[^"\\]*"|'[^']*'|[\p{L}\p{N}(](?:(?!:(?:\s|$)|\s#).)*))$/u;

const LINE = /^([\w-]+)[ \t]*:[ \t]+(.+)$/;

function fieldsByLine(yaml: string): Record<string, unknown> {
  const pairs = yaml.split('\n').map((line) => LINE.exec(line.trimEnd()));
  return Object.fromEntries(pairs.filter((pair) => pair !== null).map((pair) => [pair[1], unquote(pair[2] ?? '')]));
}

function unquote(value: string): string {
  return /^(["']).*\1$/.test(value) ? value.slice(1, -1) : value;
}

function complaint(error: unknown): string {
  const [reason, line] = isComplaint(error) ? [error.reason, (error.mark?.line ?? 0) + 2] : [String(error), 2];
  return `line ${line}: the frontmatter is no YAML (${reason}); quote the value`;
}

function isComplaint(error: unknown): error is { reason: unknown; mark?: { line: number } } {
  return typeof error === 'object' && error !== null && 'reason' in error;
}
