import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { privateReason } from '../../../lib/permission/paths/private-places.js';

const before = { ...process.env };

// They are read once, so that this has a file of its own.
beforeAll(() => {
  Object.assign(process.env, {
    XDG_CONFIG_HOME: '/srv/Ann/settings',
    XDG_DATA_HOME: '/srv/ann/data',
    HOME: '/srv/ann',
  });
});
afterAll(() => {
  process.env = before;
});

it.each([
  '/srv/ann/settings/some-tool/config.json',
  '/srv/Ann/Settings/some-tool/credentials.json',
  '/srv/ann/data/some-tool/auth.json',
])('credentials in the folders of settings that the environment names are private: %s', (path) => {
  expect(privateReason({ absolute: path, real: path }, [])).toMatch(/private|credentials/);
});

it.each(['/srv/other/some-tool/config.json', '/srv/ann/settings/git/attributes', '/srv/ann/notes/config.json'])(
  'other files are not: %s',
  (path) => {
    expect(privateReason({ absolute: path, real: path }, [])).toBeNull();
  },
);
