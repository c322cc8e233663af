import { statSync } from 'node:fs';
import { expect } from '@jest/globals';
import { isNullDevice } from '../../../lib/cli/base/world.js';
import { itWhere } from '../../support/where.js';

itWhere(process.platform !== 'win32', 'no devices with paths')(
  'only /dev/null is the device that holds nothing',
  () => {
    const found = ['/dev/null', '/dev/zero', '/dev', import.meta.filename].map((path) => isNullDevice(statSync(path)));
    expect(found).toEqual([true, false, false, false]);
  },
);
