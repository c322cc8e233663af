import { isUtf8 } from 'node:buffer';
import { systemCode } from '../../errors.js';
import type { Skill } from '../common/skill-library.js';
import { stemsOf } from '../match/match-words.js';
import type { Stems } from '../match/significant-words.js';
import { isFields, readFields, type SplitText, splitFrontmatter } from './frontmatter.js';
import { headingsOf } from './headings.js';
import { asText, readHead } from './read-skill.js';
import type { SkillFile } from './scan.js';

/** A skill with everything the matcher needs. */
export interface FoundSkill extends Skill {
  /** The skill's own folder, for `<name>/SKILL.md`; null for a flat file. */
  readonly folder: string | null;
  /** The significant words of the skill, in the format of `stemsOf`. */
  readonly stems: string;
  /** `priority` of the frontmatter; 0 when it has none. */
  readonly priority: number;
}

/** How many bytes are read to describe a skill: enough for the frontmatter, the first prose and most headings. */
const HEAD = 8192;

/** A skill read from a file, null if it is left out, and the problems found. */
export interface Described {
  readonly skill: FoundSkill | null;
  readonly reasons: readonly string[];
}

/** Describes a skill from the head of its file. Never fails. */
export async function describeSkill(file: SkillFile, stems: Stems): Promise<Described> {
  const head = headOf(file.path, HEAD);
  if (typeof head === 'string') return leftOut(head);
  const { yaml, body, problem } = splitHead(file, head);
  if (body.trim() === '' && head.length === file.bytes) return leftOut('has no text');
  const read = yaml === null ? { fields: {}, problem } : await readFields(yaml);
  const reasons = [encodingProblem(head, file.bytes), read.problem].filter((reason) => reason !== null);
  return named(file, read.fields, body, reasons, stems);
}

const leftOut = (reason: string): Described => ({ skill: null, reasons: [`${reason}; left out`] });

function headOf(path: string, length: number): Buffer | string {
  try {
    const head = readHead(path, length);
    return head.includes(0) ? 'is binary' : head;
  } catch (error) {
    return `cannot be read (${systemCode(error) ?? error})`;
  }
}

function splitHead(file: SkillFile, head: Buffer): SplitText {
  const split = splitFrontmatter(asText(head));
  if (split.problem === null || head.length === file.bytes) return split;
  const whole = headOf(file.path, file.bytes);
  return typeof whole === 'string' ? split : splitFrontmatter(asText(whole));
}

function encodingProblem(head: Buffer, bytes: number): string | null {
  // The cut may fall inside a character of up to four bytes.
  const cuts = head.length < bytes ? [0, 1, 2, 3] : [0];
  if (cuts.some((cut) => isUtf8(head.subarray(0, head.length - cut)))) return null;
  const line =
    asText(head)
      .split('\n')
      .findIndex((text) => text.includes('\uFFFD')) + 1;
  return `line ${line}: is not valid UTF-8; invalid bytes are shown as \uFFFD`;
}

function named(
  file: SkillFile,
  fields: Readonly<Record<string, unknown>>,
  body: string,
  problems: readonly string[],
  stems: Stems,
): Described {
  if (!isName(file.name)) return leftOut(`the name ${JSON.stringify(file.name)} has control characters`);
  const reasons = [...problems];
  const given = textField(fields, 'name');
  if (given !== null && !isName(given)) return leftOut(`invalid name '${given}': a name cannot be a path`);
  if (given !== null && given !== file.name) {
    reasons.push(
      `the name '${given}' does not match its ${file.folder === null ? 'file' : 'folder'}; '${file.name}' is used`,
    );
  }
  const described = textField(fields, 'description');
  if (described === null && file.folder !== null) reasons.push('has no description; its first line of text is used');
  const description = described ?? firstProse(body);
  const keywords = [...listField(fields, 'keywords'), ...listField(fields, 'tags')].join('\n');
  const headings = headingsOf(body)
    .map(({ text }) => text)
    .join('\n');
  const skill: FoundSkill = {
    name: file.name,
    description,
    path: file.path,
    bytes: file.bytes,
    folder: file.folder,
    stems: stemsOf([file.name, keywords, description, headings], stems),
    priority: Number(field(fields, 'priority') ?? 0) || 0,
  };
  return { skill, reasons };
}

function isName(name: string): boolean {
  return !/[/\\\p{Cc}]/u.test(name) && name !== '.' && name !== '..';
}

/** Agent Skills keep non-standard fields under `metadata`. */
function field(fields: Readonly<Record<string, unknown>>, key: string): unknown {
  const { metadata } = fields;
  return fields[key] ?? (isFields(metadata) ? metadata[key] : undefined);
}

function textField(fields: Readonly<Record<string, unknown>>, key: string): string | null {
  const value = fields[key];
  const text = typeof value === 'string' ? value.replace(/\s+/g, ' ').trim() : '';
  return text === '' ? null : text;
}

function listField(fields: Readonly<Record<string, unknown>>, key: string): readonly string[] {
  const value = field(fields, key);
  const items: readonly unknown[] = Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : [];
  return items.filter((item) => typeof item === 'string').map((item) => item.trim());
}

function firstProse(body: string): string {
  const lines = body.split('\n').map((line) => line.trim());
  const prose = lines.find((line) => /^[\p{L}\p{N}*_"'(]/u.test(line)) ?? lines.find((line) => line !== '') ?? '';
  return prose.replace(/^#+\s*/, '').slice(0, 300);
}
