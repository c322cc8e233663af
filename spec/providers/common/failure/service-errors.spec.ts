import { describe, expect, it } from '@jest/globals';
import { HiError } from '../../../../lib/errors.js';
import { KNOWN_SERVERS } from '../../../../lib/servers/known-servers.js';
import { isOfTheServer } from '../../../../lib/servers/server-states.js';
import { adapter, ask, chatRequest } from '../../../support/providers.js';
import { SERVICE_ERRORS } from '../../../support/service-errors.js';
import { refusal, vendorServer } from '../../../support/vendor-server.js';

describe('what a service says instead of an answer', () => {
  it.each(SERVICE_ERRORS.map((row) => [row.service, row.status, row.kind, row] as const))(
    '%s, %i: %s',
    async (_service, status, kind, { body, headers, wait = null, source }) => {
      await using server = await vendorServer(refusal(status, body, headers));
      const { error } = await ask(await adapter('openai', `${server.url}/v1`), chatRequest());
      if (!(error instanceof HiError)) throw new Error(`There is no error for ${source}.`);
      expect([error.code, error.retryAfter === null ? null : error.retryAfter / 1000]).toEqual([kind, wait]);
      expect(isOfTheServer(error)).toBe(kind !== 'refused' && kind !== 'window');
    },
  );

  it('is known of each: a wrong key, no money or no more requests, and from where', () => {
    for (const { name, docs } of KNOWN_SERVERS) {
      const rows = SERVICE_ERRORS.filter(({ service }) => service === name);
      expect(rows.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['key', 'rate']));
      for (const { source } of rows) expect(source).toMatch(/^(?:words of )?https:\/\//);
      expect(docs).toMatch(/^https:\/\//);
    }
  });
});
