/** A skill file, split into frontmatter and text. */
export interface SplitText {
  /** The lines between the two `---`, or null when the file has no frontmatter. */
  readonly yaml: string | null;
  readonly body: string;
  /** Why the frontmatter could not be separated from the text, or null. */
  readonly problem: string | null;
}

/** The fields of a frontmatter. Values are strings, and lists and maps of strings; numbers and dates are not converted. */
export interface Fields {
  readonly fields: Readonly<Record<string, unknown>>;
  /** The problem found, naming the line of the file, or null. `fields` then holds what could be parsed. */
  readonly problem: string | null;
}

/** Splits the frontmatter off a text with `\n` line endings. Never fails: a frontmatter that is not closed is text. */
export function splitFrontmatter(text: string): SplitText {
  if (!/^---[ \t]*\n/.test(text)) return { yaml: null, body: text, problem: null };
  const start = text.indexOf('\n') + 1;
  const end = /^(?:---|\.\.\.)[ \t]*(?:\n|$)/m.exec(text.slice(start));
  if (!end)
    return { yaml: null, body: text, problem: 'line 1: the frontmatter that begins here is not closed by "---"' };
  return {
    yaml: text.slice(start, start + end.index),
    body: text.slice(start + end.index + end[0].length),
    problem: null,
  };
}

/** Parses a frontmatter leniently. Never fails: invalid YAML is read line by line as `key: value`. */
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

/** True for a map, as opposed to a list or a scalar. */
export function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * A line that means the same in YAML and as `key: value`: a comment, an empty line, or a plain or simply quoted value. Most skill files
 * have only such lines, and loading the YAML library would take longer than reading them.
 */
const UNMISTAKABLE = /^(?:#.*|[ \t]*|[\w-]+:[ \t]+(?:"[^"\\]*"|'[^']*'|[\p{L}\p{N}(](?:(?!:(?:\s|$)|\s#).)*))$/u;

const LINE = /^([\w-]+)[ \t]*:[ \t]+([^ \t].*)$/;

function fieldsByLine(yaml: string): Record<string, unknown> {
  const pairs = yaml.split('\n').map((line) => LINE.exec(line.trimEnd()));
  return Object.fromEntries(pairs.filter((pair) => pair !== null).map((pair) => [pair[1], unquote(pair[2] ?? '')]));
}

function unquote(value: string): string {
  return /^(["']).*\1$/.test(value) ? value.slice(1, -1) : value;
}

function complaint(error: unknown): string {
  const [reason, line] = isComplaint(error) ? [error.reason, (error.mark?.line ?? 0) + 2] : [String(error), 2];
  return `line ${line}: the frontmatter is not valid YAML (${reason}); quote the value`;
}

function isComplaint(error: unknown): error is { reason: unknown; mark?: { line: number } } {
  return typeof error === 'object' && error !== null && 'reason' in error;
}
