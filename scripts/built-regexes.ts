// The patterns that the program builds at run time, for `check-regexes`: calls each module that builds some.
const KEYS = ['sk-proj-0123456789abcdefghijklmnop', 'hunter2-hunter2-hunter2'];

/** A call that builds the patterns, for each file of `lib` with `new RegExp`. */
const BUILDERS: Readonly<Record<string, () => Promise<unknown>>> = {
  'lib/cli/input/mentions.ts': () => import('../lib/cli/input/mentions.js'),
  'lib/compaction/prompt.ts': async () => {
    const { asTokens } = await import('../lib/chat/request.js');
    const { readReply } = await import('../lib/compaction/prompt.js');
    return readReply({ text: 'A summary of it.', stop_reason: 'end' }, asTokens(1000));
  },
  'lib/config/resolve.ts': async () => (await import('../lib/config/resolve.js')).publishedWindow('none'),
  'lib/permission/environment.ts': () => import('../lib/permission/environment.js'),
  'lib/permission/secrets.ts': async () => {
    const { ownSecretMask, SHAPES, secretMask } = await import('../lib/permission/secrets.js');
    // The whole table takes too long to check. Each shape is checked instead: alternatives that are linear are linear
    // together.
    return [
      secretMask([]),
      ...KEYS.map((key) => ownSecretMask([key])),
      ...SHAPES.map((shape) => new RegExp(`(?<![A-Za-z0-9])(?:${shape})`, 'g')),
    ];
  },
  'lib/permission/paths/private-places.ts': () => import('../lib/permission/paths/private-places.js'),
  'lib/permission/paths/runs-later.ts': () => import('../lib/permission/paths/runs-later.js'),
  'lib/recall/show/passage.ts': async () =>
    (await import('../lib/recall/show/passage.js')).passageOf('Connection reset.', '', ['reset (by  peer)'], 60),
  'lib/screen/markdown/blocks.ts': async () => {
    const { Fence } = await import('../lib/screen/markdown/blocks.js');
    const { StyledText } = await import('../lib/screen/text/styled-text.js');
    return ['```', '~~~~'].map((marks) => new Fence(Object.create(StyledText.prototype), marks));
  },
  'lib/screen/text/neutralise.ts': async () => (await import('../lib/screen/text/neutralise.js')).visibleText('a'),
  'lib/skills/match.ts': async () => (await import('../lib/skills/match.js')).significantWordsOf('用docker部署'),
  'lib/disk.ts': async () => (await import('../lib/disk.js')).namesWithLeftovers('[0-9a-f]{64}'),
};

export const hasBuilder = (file: string): boolean => Object.hasOwn(BUILDERS, file);

/** The patterns of all these files. */
export async function builtExpressions(): Promise<readonly { readonly file: string; readonly pattern: RegExp }[]> {
  const built: { file: string; pattern: RegExp }[] = [];
  const plain = globalThis.RegExp;
  for (const [file, build] of Object.entries(BUILDERS)) {
    globalThis.RegExp = new Proxy(plain, {
      construct(target, [source, flags]) {
        const pattern = new target(source, flags);
        built.push({ file, pattern });
        return pattern;
      },
    });
    try {
      await build();
    } finally {
      globalThis.RegExp = plain;
    }
  }
  return built;
}
