import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { loadSkills } from '../lib/skills/load.js';
import { matchWords } from '../lib/skills/match.js';
import { judge, samples, writeSkills } from '../spec/skills/corpus/corpus.js';
import { median, type Row } from './row.js';

const SKILLS = 500;
const BYTES = 20_000;
const ROUNDS = 15;

/** How well words find the right skills, and how much a folder of five hundred skills slows every start. */
export async function rows(): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'hi-bench-skills-'));
  try {
    return [...(await quality(join(folder, 'corpus'))), ...(await startUp(folder))];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function quality(folder: string): Promise<readonly Row[]> {
  writeSkills(folder);
  const { skills } = await loadSkills(folder, null);
  const all = samples();
  const chosen = all.map(({ text }) =>
    matchWords(skills, text)
      .slice(0, 3)
      .map(({ name }) => name),
  );
  const { recall, precision, quiet } = judge(all, chosen);
  const percent = (share: number): number => Math.round(share * 1000) / 10;
  const corpus = `${skills.length} skills, ${all.length} messages`;
  return [
    { what: `skills meant that are in the top 3 (${corpus})`, value: percent(recall), unit: '%', least: 90 },
    { what: 'skills in the top 3 that are meant', value: percent(precision), unit: '%' },
    { what: 'small talk that loads nothing', value: percent(quiet), unit: '%', least: 95 },
  ];
}

/** A minimal program that, like `hi ask`, finds the skills and chooses some for a message. */
const PROGRAM = `
import { openSkills } from './lib/skills/index.js';
const [folder, known_file] = process.argv.slice(2);
const cache = { get: async () => null, put: async () => undefined };
const library = await openSkills({ folder, known_file, cache, model: null, mode: 'auto', matcher: 'lexical', top_k: 3,
  evict_after: 3, budget_ratio: 0.15, large_tokens: 1000, context_window: 128000 });
await library.select([], 'how do I rebase a branch', { pin: [], drop: [] }, new AbortController().signal);
`;

async function startUp(folder: string): Promise<readonly Row[]> {
  const program = join(folder, 'program.mjs');
  const stdin = { contents: PROGRAM, resolveDir: resolve('.'), loader: 'ts' } as const;
  await build({ stdin, outfile: program, bundle: true, minify: true, format: 'esm', platform: 'node' });
  const [none, many, known] = [join(folder, 'none'), join(folder, 'many'), join(folder, 'known.json')];
  mkdirSync(none);
  writeMany(many);

  const start = (skills: string): number => {
    const before = performance.now();
    spawnSync(process.execPath, [program, skills, known], { stdio: 'inherit' });
    return performance.now() - before;
  };
  const first = start(many);
  const times = Array.from({ length: ROUNDS }, () => ({ none: start(none), many: start(many) }));
  const bare = median(times.map((time) => time.none));
  const full = median(times.map((time) => time.many));
  return [
    { what: 'start with no skills', value: Math.round(bare), unit: 'ms' },
    { what: `start with ${SKILLS} skills of ${BYTES / 1000} KB`, value: Math.round(full), unit: 'ms' },
    { what: 'the same against none', value: Math.round((full / bare) * 100) / 100, unit: '×', limit: 1.2 },
    { what: 'the very first start with them', value: Math.round(first), unit: 'ms' },
  ];
}

function writeMany(folder: string): void {
  for (let index = 0; index < SKILLS; index += 1) {
    const subjects = Array.from({ length: 8 }, (_, place) => `subject${(index * 7 + place * 13) % 900}`).join(' ');
    const head = `---\nname: skill-${index}\ndescription: Use this for ${subjects}.\n---\n\n# Skill ${index}\n\n`;
    const section = `## Part of ${subjects}\n\n${'Do it in this order and no other. '.repeat(20)}\n\n`;
    mkdirSync(join(folder, `skill-${index}`), { recursive: true });
    writeFileSync(join(folder, `skill-${index}`, 'SKILL.md'), head + section.repeat(BYTES / section.length));
  }
}
