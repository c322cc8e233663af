import { expect, it } from '@jest/globals';
import { renderMarkdown } from '../../../lib/screen/answer-writer.js';
import { textWidth } from '../../../lib/screen/text/styled-text.js';

/** A short program in each language, with a line that fits no terminal of 40 columns. */
const PROGRAMS: Readonly<Record<string, string>> = {
  js: 'const total = items.reduce((sum, { price, count }) => sum + price * count, 0);\nconsole.log(total);',
  ts: 'export const isUser = (value: unknown): value is User => typeof value === "object" && value !== null;',
  python:
    'with open("notes.txt", encoding="utf-8") as file:\n    words = [word for line in file for word in line.split()]',
  rust: "fn longest<'a>(left: &'a str, right: &'a str) -> &'a str { if left.len() > right.len() { left } else { right } }",
  go: 'if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {\n\treturn fmt.Errorf("decode: %w", err)\n}',
  c: 'for (size_t at = 0; at < length; at++) buffer[at] = (unsigned char)(buffer[at] ^ key[at % key_length]);',
  java: 'List<String> names = people.stream().filter(Person::isAdult).map(Person::name).sorted().toList();',
  sql: "SELECT day, sum(amount) AS total FROM payments WHERE day >= '2026-01-01' GROUP BY day ORDER BY total DESC;",
  sh: 'find . -name "*.log" -mtime +30 -print0 | xargs -0 --no-run-if-empty rm -- && echo "cleaned up" >> /tmp/cron.txt',
  html: '<a class="button button-primary" href="https://example.org/a/very/long/path?with=parameters">Go on</a>',
  css: '.card { display: grid; grid-template-columns: minmax(12rem, 1fr) 3fr; gap: 1rem; padding: 1.5rem 2rem; }',
  yaml: 'services:\n  web:\n    image: "registry.example.org/team/project/web-frontend:2026.11.24-build.4711"',
};

const PLAN = [
  'Plan',
  'Price per month',
  'Included requests',
  'Overage',
  'Support',
  'Best for',
  'Region',
  'Since',
  'Note',
];
const ROWS = [
  [
    'Enterprise',
    '*ask*',
    'unlimited',
    '`0`',
    'Phone, 1 h, dedicated engineer',
    'Regulated industries',
    'EU',
    '2019',
    '—',
  ],
  ['Team', '12', '1,000', '0.50', 'Mail within two days', 'Small teams', 'EU, US', '2021', 'includes **SSO**'],
  ['小さい', '0', '10', '不可', 'フォーラム', '個人', 'JP', '2024', '👩‍👩‍👧 free for families'],
];

function tableOf(columns: number): string {
  const row = (cells: readonly string[]) => `| ${cells.slice(0, columns).join(' | ')} |`;
  return `These are the plans:\n\n${[row(PLAN), `|${'---|'.repeat(columns)}`, ...ROWS.map(row)].join('\n')}\n\nAsk for more.`;
}

const SENTENCE = 'Deploy it from the staging branch, wait for the health check, and only then move the traffic over';
const ANSWERS: readonly string[] = [
  ...[3, 4, 5, 6, 7, 8, 9].map(tableOf),
  ...Object.entries(PROGRAMS).map(([name, code]) => `Use this:\n\n\`\`\`${name}\n${code}\n\`\`\`\n\n${SENTENCE}.`),
  `1. ${SENTENCE}:\n   - ${SENTENCE}\n     - ${SENTENCE}\n2. Done.`,
  `- [ ] ${SENTENCE}\n- [x] **${SENTENCE}**\n  1. ${SENTENCE}\n\n     ${SENTENCE}.`,
  `> ${SENTENCE}.\n>\n> - ${SENTENCE}\n\n${SENTENCE}.`,
  `* ${SENTENCE}\n\n  \`\`\`sh\n  ${PROGRAMS.sh}\n  \`\`\`\n* ${SENTENCE}`,
  `See [the guide](https://example.org/docs/deployment/with/a/rather/long/path#and-a-fragment) and ${SENTENCE}.`,
  `${SENTENCE}: https://example.org/${'very-long-path/'.repeat(10)}index.html — ${SENTENCE}.`,
  `[1]: https://example.org/one\n\n${SENTENCE} [1], \`${'option '.repeat(12)}\`.`,
  `東京は日本の首都です。${'人口は約千四百万人で、世界最大の都市圏の一つです。'.repeat(4)}\n\n${SENTENCE}.`,
  `그 도시는 ${'아주 크고 오래된 도시이며 많은 사람들이 살고 있습니다 '.repeat(4)}끝.`,
  `# Emoji 🎉\n\n🙂 ${SENTENCE} 👩‍👩‍👧‍👦 ${SENTENCE} 🇳🇴 ✅`,
  `## What to do before the traffic moves\n\n${SENTENCE}.\n\n---\n\n${SENTENCE}.`,
];

const wordsOf = (text: string): readonly string[] => text.split(/\s+/).filter((word) => word !== '' && word !== '>');
const isTable = (answer: string): boolean => answer.startsWith('These are the plans');

/** The lines between the fences. */
function codeIn(text: string): readonly string[] {
  return text.split('```').flatMap((part, at) => (at % 2 === 1 ? part.split('\n').slice(1, -1) : []));
}

it('are thirty', () => expect(ANSWERS).toHaveLength(30));

it.each(ANSWERS.flatMap((answer) => [40, 80, 120].map((columns) => [answer.slice(0, 30), columns, answer] as const)))(
  'has no word and no cell broken, and is the text that was written: %j at %s columns',
  async (_, columns, answer) => {
    const style = { colour: false, links: false, columns: () => columns, wrap: () => 'word' as const };
    const shown = await renderMarkdown(answer, style);
    expect(codeIn(shown)).toEqual(codeIn(answer));
    if (isTable(answer)) {
      const cells = answer.match(/[^|\s-][^|\n]*/g)?.flatMap(wordsOf) ?? [];
      const bare = (words: readonly string[]): readonly string[] => words.map((word) => word.replace(/:$/, ''));
      expect(bare(wordsOf(shown))).toEqual(expect.arrayContaining(bare(cells) as string[]));
    } else expect(wordsOf(shown)).toEqual(wordsOf(answer));
    const code = new Set(codeIn(shown));
    // A row that is too wide is code, or holds one word that is nearly as wide.
    const wide = shown.split('\n').filter((row) => textWidth(row) > columns && !code.has(row) && !row.includes('`'));
    for (const row of wide) expect(Math.max(...wordsOf(row).map(textWidth))).toBeGreaterThan(columns / 2);
  },
);
