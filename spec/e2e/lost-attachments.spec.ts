import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { png } from '../support/pictures.js';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';

const PNG = png();

let server: ScriptedServer;
let home: Home;
beforeEach(async () => {
  server = await startScriptedServer(() => ({ text: 'ok' }));
  home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base });
  writeFileSync(join(home.work, 'a.png'), PNG);
  writeFileSync(join(home.work, 'b.pdf'), '%PDF-1.4 words');
  expect(await hi(['ask', '-f', 'a.png', '-f', 'b.pdf', 'look'])).toMatchObject({ status: 0 });
});
afterEach(async () => {
  await server.close();
  home.remove();
});

const hi = (args: readonly string[]) => runProgram(home, args);
const attachments = () => join(home.data, 'attachments');
const lastRequest = () => JSON.stringify(server.requests.at(-1)?.messages);

const DAMAGES: Readonly<Record<string, () => void>> = {
  'gone with their folder': () => renameSync(attachments(), join(home.folder, 'elsewhere')),
  removed: () => {
    for (const name of readdirSync(attachments())) rmSync(join(attachments(), name));
  },
  altered: () => {
    for (const name of readdirSync(attachments())) writeFileSync(join(attachments(), name), 'something else');
  },
  emptied: () => {
    for (const name of readdirSync(attachments())) writeFileSync(join(attachments(), name), '');
  },
  'folders now': () => {
    for (const name of readdirSync(attachments())) {
      rmSync(join(attachments(), name));
      mkdirSync(join(attachments(), name));
    }
  },
};

describe('attachments of earlier turns', () => {
  it.each(Object.keys(DAMAGES))('that are %s are reported once, and the conversation continues', async (damage) => {
    DAMAGES[damage]?.();
    const first = await hi(['ask', 'more']);
    expect(first).toMatchObject({ status: 0, stdout: 'ok\n' });
    expect(first.stderr).toMatch(/2 attachments are missing or altered \(image 'a\.png', document 'b\.pdf'\)/);
    expect(lastRequest()).toContain('[The image a.png is no longer there.]');
    expect(lastRequest()).toContain('[The document b.pdf is no longer there.]');
    expect(await hi(['ask', 'more'])).toEqual({ status: 0, stdout: 'ok\n', stderr: '' });
    expect(await hi(['compact', '--strategy', 'truncate'])).toMatchObject({ status: 0 });
  });

  it('that were altered are found by hi config check', async () => {
    DAMAGES.altered?.();
    const { status, stdout } = await hi(['config', 'check']);
    expect(stdout).toContain("Missing or changed: image 'a.png', document 'b.pdf'.");
    expect(status).toBe(7);
  });

  it.each(['removed', 'altered'])('that were %s are there again when the same bytes are attached', async (damage) => {
    DAMAGES[damage]?.();
    await hi(['ask', 'more']);
    expect(await hi(['ask', '-f', 'a.png', '-f', 'b.pdf', 'again'])).toMatchObject({ status: 0, stderr: '' });
    expect(lastRequest()).not.toContain('no longer there');
    expect(lastRequest().split(PNG.toString('base64'))).toHaveLength(3);
    expect((await hi(['config', 'check'])).stdout).not.toContain('Missing');
    DAMAGES[damage]?.();
    expect((await hi(['ask', 'more'])).stderr).toContain('missing or altered');
  });
});
