import { type Dirent, readdirSync } from 'node:fs';
import { sep } from 'node:path';

/** Endings that people give to Markdown beside `.md`. */
const MARKDOWN = /\.(?:md|mdx|mdown|mkdn?|markdown)$/i;

/** How many folders are looked into for skills that lie too deep, and how far down. */
const MOST_FOLDERS = 50;
const DEEPEST = 3;

/** Why a file that looks like a skill is none by its name; null for a file that does not look like one. */
export function misnamed({ name }: Dirent): string | null {
  const ending = MARKDOWN.exec(name)?.[0];
  return ending === undefined || ending === '.md' ? null : `its name ends with ${ending}, not .md; left out`;
}

/** Why a folder without a `SKILL.md` is no skill; null for one that has nothing in it that looks like a skill. Never fails. */
export function misplaced(folder: string): string | null {
  const files = markdownIn(folder);
  const misspelt = files.find((file) => /^skill\.md$/i.test(file));
  if (misspelt !== undefined) return `its file is called ${misspelt}, not SKILL.md; left out`;
  const [first] = files;
  if (first === undefined) return null;
  const others = files.length === 1 ? '' : ` and ${files.length - 1} more`;
  return `has no SKILL.md; too deep in it: ${first}${others}. A skill is NAME.md or NAME/SKILL.md; left out`;
}

/** The Markdown files in a folder and those below it, nearest first, by their paths in it. */
function markdownIn(folder: string): readonly string[] {
  const found: string[] = [];
  const folders = [''];
  for (let at = 0; at < Math.min(folders.length, MOST_FOLDERS); at += 1) {
    const inside = folders[at] ?? '';
    for (const entry of entriesOf(`${folder}${sep}${inside}`)) {
      if (entry.name.startsWith('.')) continue;
      const path = `${inside}${entry.name}`;
      if (!entry.isDirectory() && MARKDOWN.test(path)) found.push(path);
      else if (entry.isDirectory() && path.split(sep).length < DEEPEST) folders.push(`${path}${sep}`);
    }
  }
  return found;
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((one, other) => (one.name < other.name ? -1 : 1));
  } catch {
    return [];
  }
}
