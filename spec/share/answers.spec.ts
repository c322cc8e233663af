import { describe, expect, it } from '@jest/globals';
import { isLocal } from '../../lib/share/answers.js';

const LINES = [
  '22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda1 rw',
  '30 22 0:40 / /home/ada/cloud rw,nosuid - fuse.rclone rclone rw',
  '31 22 0:41 / /home/ada/my\\040disk rw - nfs4 server:/disk rw',
  '32 31 254:1 / /home/ada/my\\040disk/usb rw - ext4 /dev/sdb1 rw',
  '33 22 0:42 / /tmp rw - tmpfs tmpfs rw',
  '34 22 254:2 / /mnt rw - ext4 /dev/sdc1 rw',
  '35 34 0:43 / /mnt rw shared:9 - cifs //server/share rw',
  '36 22 254:3 / /media/stick rw - fuseblk /dev/sdd1 rw',
  '',
];

describe('the file system of a shared folder', () => {
  it.each([
    ['/home/ada/share', true],
    ['/home/ada/cloud', false],
    ['/home/ada/cloud/share', false],
    ['/home/ada/clouds', true],
    ['/home/ada/my disk/share', false],
    ['/home/ada/my disk/usb/share', true],
    ['/tmp/share', true],
    ['/mnt/share', false],
    ['/media/stick/share', false],
  ])('of %s is asked first unless it is on a disk or in memory', (folder, expected) => {
    expect(isLocal(folder, LINES)).toBe(expected);
  });

  it('is asked where nothing is known of it', () => {
    expect(isLocal('/home/ada/share', [])).toBe(false);
  });
});
