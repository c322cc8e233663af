import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect } from '@jest/globals';
import { readRules } from '../../lib/permission/rules/rules.js';
import { Sandbox } from '../../lib/permission/sandbox/sandbox.js';
import { sandboxKind } from '../../lib/permission/sandbox/sandbox-kind.js';
import { tools } from '../../lib/tools/index.js';
import fc from '../support/properties.js';
import { itWhere } from '../support/where.js';

/** `npm run test:attacks` runs 20,000 lines in the sandbox, and 2,000 with what -y grants. */
const LINES = Number(process.env.HI_GENERATED_PLACES ?? 100);
/** That many lines run in one sandbox, each in a shell of its own. */
const BATCH = 50;
const CANARY = 'CANARY417PLACE';

/** Below the home folder, so that the sandbox does not empty it as it does /tmp. */
const HOMES = resolve(import.meta.dirname, '../../node_modules/.cache/hi-places');

/** Folders of a home with a project `work`: the names say nothing. */
const name = fc.constantFrom('a', 'b', 'c', 'x y', '$z', 'é');
const inWork = fc.array(name, { minLength: 1, maxLength: 3 }).map((steps) => `work/${steps.join('/')}/f.txt`);
const inHome = fc.array(name, { minLength: 1, maxLength: 3 }).map((steps) => `${steps.join('/')}/f.txt`);
const secret = fc.oneof(inWork, inHome);
/** Private files of the working folder: there only a name says that a file is private. */
const inPrivate = fc
  .tuple(fc.array(name, { maxLength: 2 }), fc.constantFrom('.env', 'id_rsa', '.ssh/f.txt', 'x.pem', '.aws/a/f.txt'))
  .map(([steps, file]) => ['work', ...steps, file].join('/'));

/** Ways to write a rule that names a file. */
const form = fc.constantFrom(
  (path: string) => path,
  (path: string) => `${dirname(path)}/**`,
  (path: string) => `${dirname(path)}/*`,
  (path: string) => `${dirname(path)}/*.txt`,
  (path: string) => `${dirname(path)}:*`,
  (path: string) => `${dirname(dirname(path))}/?*/f.txt`,
);

/** Files that another program runs later, behind more hidden names than a sandbox mounts. */
const inLater = fc
  .tuple(fc.array(name, { maxLength: 2 }), fc.constantFrom('.zz', '.yy/f.txt', '.xx/a/f.txt', 'mise.toml'))
  .map(([steps, file]) => ['work', ...steps, file].join('/'));
const LATER = 'MINE';

const situation = fc.record({
  denied: fc.uniqueArray(fc.record({ path: secret, form }), {
    minLength: 1,
    maxLength: 3,
    selector: ({ path }) => path,
  }),
  kept: fc.uniqueArray(fc.record({ path: secret, form }), { minLength: 1, maxLength: 2, selector: ({ path }) => path }),
  elsewhere: fc.uniqueArray(inHome, { maxLength: 4 }),
  hidden: fc.uniqueArray(inPrivate, { maxLength: 3 }),
  later: fc.uniqueArray(inLater, { maxLength: 3 }),
  ...{ write: fc.boolean(), network: fc.boolean(), redirects: fc.boolean(), readsMore: fc.boolean() },
});
type Situation = ReturnType<typeof situation.generate>['value'];

/** How a line spells the file, from the working folder. */
const SPELLINGS: readonly ((home: string, path: string) => string)[] = [
  (home, path) => `'${home}/${path}'`,
  (_home, path) => `"$HOME"/'${path}'`,
  (_home, path) => `../'${path}'`,
  (_home, path) => `/proc/self/root"$HOME"/'${path}'`,
  (_home, path) => `/proc/self/cwd/../'${path}'`,
  (_home, path) => `"$(printf '%s' "$HOME")"/'${path}'`,
  (_home, path) => `/proc/1/root"$HOME"/'${path}'`,
  (_home, path) => `"\${PWD%/*}"/'${dirname(path)}'/*`,
  (_home, path) => `~/'${dirname(path)}'/../*/f.txt`,
];

/** What a line does with it. `$1` is the file as spelled. */
const DEEDS: readonly string[] = [
  ...[
    'cat $1',
    'grep -r . "$(dirname $1)"',
    'cp $1 /tmp/x; cat /tmp/x',
    'mv $1 /tmp/x; cat /tmp/x',
    'ln $1 /tmp/l; cat /tmp/l',
    'ln -s $1 s; cat s',
  ],
  ...[
    'tar cf - $1 | tar xOf -',
    'cd "$(dirname $1)" && cat *',
    'find .. -type f -exec cat {} +',
    'find ~ .. -name f.txt 2>/dev/null | head -50 | xargs -d "\\n" cat',
  ],
  ...[
    'mv "$(dirname $1)" moved; cat moved/*',
    'cp -r .. /tmp/all; cat /tmp/all/*/* /tmp/all/*/*/*',
    'python3 -c "import sys; print(open(sys.argv[1]).read())" $1',
    'while read -r l; do echo "$l"; done < $1',
  ],
  ...[
    'umount "$(dirname $1)"; cat $1',
    'rm -f $1',
    'rm -rf "$(dirname $1)"',
    'echo evil > $1',
    'echo evil >> $1',
    'truncate -s 0 $1',
    'sed -i s/./x/ $1',
    'cp /etc/hostname $1',
    'ln -sf /etc/hostname $1',
  ],
  ...[
    'python3 -c "import sys,os; os.rename(os.path.dirname(sys.argv[1]), \'moved2\')" $1',
    'install /etc/hostname $1',
    'dd if=/etc/hostname of=$1',
    'chmod 777 $1; cat $1',
    'mkdir -p new; mv new "$(dirname $1)"',
    'sort -o $1 /etc/hostname',
  ],
  ...[
    'cat $1 > out.txt; cat out.txt',
    'grep -r CANARY .. > out.txt; cat out.txt',
    'exec 9< $1; cat <&9',
    'od -c $1 | head -3; cat < $1',
    'awk 1 $1',
    'git grep --no-index CANARY ..',
  ],
];

class Place {
  readonly home = realpathSync(mkdtempSync(join(makeFolder(HOMES), 'p-')));
  readonly work = join(this.home, 'work');
  readonly files: ReadonlyMap<string, string>;

  constructor({ denied, kept, elsewhere, hidden, later }: Situation) {
    const secrets = [...denied.map(({ path }) => path), ...elsewhere, ...hidden];
    const decoys = later.length === 0 ? [] : Array.from({ length: 45 }, (_, index) => `work/.a${index}`);
    for (const path of decoys) this.put(path, LATER);
    this.files = new Map([
      ...later.map((path): [string, string] => [path, LATER]),
      ...kept.map(({ path }): [string, string] => [path, 'KEPT']),
      ...secrets.map((path): [string, string] => [path, CANARY]),
    ]);
    // A repository of its own: of the one that these folders lie in, everything could be read.
    mkdirSync(join(this.work, '.git'), { recursive: true });
    for (const [path, text] of this.files) this.put(path, text);
  }

  put(path: string, text: string): void {
    mkdirSync(dirname(join(this.home, path)), { recursive: true });
    writeFileSync(join(this.home, path), text);
  }

  /** The files of the home folder with a canary in them. */
  canaries(folder = this.home): readonly string[] {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return this.canaries(path);
      return entry.isFile() && readFileSync(path, 'utf8').includes(CANARY) ? [path.slice(this.home.length + 1)] : [];
    });
  }
}

const makeFolder = (path: string): string => {
  mkdirSync(path, { recursive: true });
  return path;
};

/** Runs the lines in one sandbox; returns what they printed. */
async function run(
  place: Place,
  { denied, kept, write, network, redirects, readsMore }: Situation,
  isOpen: boolean,
  lines: readonly string[],
) {
  const ruleOf = (tool: string) => (one: { readonly path: string; readonly form: (path: string) => string }) =>
    `${tool}(${place.home}/${one.form(one.path)})`;
  const deny = [...denied.map(ruleOf('read_file')), ...kept.map(ruleOf('write_file'))];
  const rules = readRules({ allow: [], ask: [], deny }, tools, place.work);
  const emptyFile = join(makeFolder(join(HOMES, 'own')), 'empty');
  writeFileSync(emptyFile, '');
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: place.home, LANG: 'C.UTF-8' };
  const sandbox = new Sandbox({
    root: place.work,
    ownPlaces: [],
    freeFolders: [],
    env,
    fileOf: () => emptyFile,
    rules: () => rules,
  });
  const confined = await sandbox.confine(
    isOpen
      ? { write: true, network: true, files: [], read: [], isOpen: true }
      : {
          write,
          network,
          files: redirects ? [join(place.work, 'out.txt')] : [],
          read: readsMore ? denied.map(({ path }) => join(place.home, dirname(path))) : [],
        },
    place.work,
  );
  const filter = join(HOMES, 'own', 'filter');
  writeFileSync(filter, confined.filter ?? '');
  const descriptor = openSync(filter, 'r');
  const [program = '', ...rest] = confined.wrapper;
  const each = 'while IFS= read -r -d "" c; do timeout 5 bash --noprofile --norc -c "$c" < /dev/null; echo; done';
  const { stdout, stderr, status } = spawnSync(program, [...rest, 'bash', '-c', `exec 3<&0; ${each} <&3`], {
    cwd: place.work,
    env,
    input: lines.map((line) => `${line}\0`).join(''),
    stdio: ['pipe', 'pipe', 'pipe', 'ignore', descriptor],
    timeout: 300_000,
    maxBuffer: 500_000_000,
  });
  closeSync(descriptor);
  await confined.finish();
  return { output: `${stdout}${stderr}`, status };
}

/** What of a situation did not hold; none where all did. */
function harm(
  place: Place,
  { denied, kept, elsewhere, hidden, later }: Situation,
  isOpen: boolean,
  output: string,
): readonly string[] {
  const at = (path: string): string => join(place.home, path);
  const unchanged = (path: string, text: string): boolean =>
    existsSync(at(path)) && !lstatSync(at(path)).isSymbolicLink() && readFileSync(at(path), 'utf8') === text;
  const isDenied = new Set(denied.map(({ path }) => path));
  const moved = place.canaries().filter((path) => !place.files.has(path));
  return [
    ...(output.replaceAll(/bash: .*|git grep .*/g, '').includes(CANARY) ? ['a canary was printed'] : []),
    ...[...isDenied].filter((path) => !unchanged(path, CANARY)).map((path) => `${path} was changed`),
    ...kept
      .filter(({ path }) => !isDenied.has(path) && !unchanged(path, place.files.get(path) ?? ''))
      .map(({ path }) => `${path} was changed, which is kept`),
    ...(isOpen
      ? []
      : [...elsewhere, ...hidden]
          .filter((path) => !unchanged(path, CANARY))
          .map((path) => `${path} was changed, which is elsewhere or private`)),
    ...(isOpen
      ? []
      : later
          .filter((path) => existsSync(at(path)) && !unchanged(path, LATER))
          .map((path) => `${path} runs what was put there`)),
    ...(isOpen ? [] : moved.map((path) => `${path} has a canary now`)),
  ];
}

const WORKS = (await sandboxKind()) === 'bubblewrap';
const itConfined = itWhere(WORKS, 'bubblewrap cannot be used here');

describe('generated denials, grants and files', () => {
  for (const [what, isOpen, count] of [
    ['in the sandbox', false, LINES],
    ['with what -y grants', true, Math.ceil(LINES / 10)],
  ] as const)
    itConfined(
      `are neither read, changed nor moved by ${count} command lines ${what}`,
      async () => {
        const batches = Math.ceil(count / BATCH);
        let ran = 0;
        for (const given of fc.sample(situation, batches)) {
          const opened = given.denied.map(({ path }) => `${dirname(path)}/`);
          // With -y everything else can be read, and a rule that opens a folder opens what nothing denies in it.
          const isOpened = (path: string): boolean =>
            isOpen || (given.readsMore && opened.some((folder) => path.startsWith(folder)));
          const one = {
            ...given,
            elsewhere: given.elsewhere.filter((path) => !isOpened(path)),
            hidden: isOpen ? [] : given.hidden,
          };
          const place = new Place(one);
          const targets = [...place.files.keys()];
          const lines = fc
            .sample(
              fc.tuple(fc.constantFrom(...targets), fc.constantFrom(...SPELLINGS), fc.constantFrom(...DEEDS)),
              BATCH,
            )
            .map(([path, spell, deed]) => deed.replaceAll('$1', () => spell(place.home, path)));
          const { output, status } = await run(place, one, isOpen, lines);
          expect([status, output.slice(0, 300)]).toEqual([0, output.slice(0, 300)]);
          ran += lines.length;
          const found = harm(place, one, isOpen, output);
          if (found.length > 0)
            throw new Error(
              JSON.stringify(
                {
                  found,
                  one: {
                    ...one,
                    deny: [
                      one.denied.map(({ path, form }) => form(path)),
                      one.kept.map(({ path, form }) => form(path)),
                    ],
                  },
                  lines,
                  output: output.slice(0, 3000),
                },
                null,
                1,
              ),
            );
          rmSync(place.home, { recursive: true, force: true });
        }
        if (count > 1000) process.stderr.write(`${ran} lines in ${batches} sandboxes ${what}\n`);
        expect(ran).toBeGreaterThanOrEqual(count);
      },
      3_600_000,
    );
});
