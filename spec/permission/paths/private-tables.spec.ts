import { homedir } from 'node:os';
import { describe, expect, it } from '@jest/globals';
import { isHarmlessDevice, isPrivatePath, privateReason } from '../../../lib/permission/paths/private-places.js';

const words = (text: string): readonly string[] => text.trim().split(/\s+/);
const reason = (path: string) => privateReason({ absolute: path, real: path }, []);

describe('a private place', () => {
  it.each(
    words(`
      .ssh .aws .azure gcloud .kube .docker .terraform.d doctl gh .putty .gnupg .password-store keyrings keychains kwalletd .pki 1password
      .1password bitwarden keepassxc keystore sops .ethereum .electrum .monero wallets .mozilla .thunderbird bravesoftware chromium
      google-chrome microsoft-edge vivaldi signal discord slack telegramdesktop .mutt .weechat atuin .zsh_sessions .bash_sessions
    `),
  )('is every folder called %s, with everything in it', (name) => {
    for (const path of [`/srv/p/${name}`, `/srv/p/${name}/a/b.ts`, `/srv/p/${name.toUpperCase()}/x`])
      expect([path, isPrivatePath(path)]).toEqual([path, true]);
    for (const path of [`/srv/p/x${name}/a`, `/srv/p/${name}x/a`])
      expect([path, isPrivatePath(path)]).toEqual([path, false]);
  });

  it.each(
    words(`
      .env .envrc .flaskenv .dev.vars .dev.vars.x .env.local .env.examples a.env a.example.env env.local env.dev env.prod env.test env.stage
      env.staging env.development env.production a.pem a.key a.p8 a.p12 a.pfx a.kdb a.kdbx a.keystore a.jks a.ppk a.asc a.gpg a.age
      id_rsa id_dsa id_ecdsa id_ed25519 id_rsa_work ssh_host_rsa_key key3.db key4.db wallet.dat private_key private-key.x privatekey
      .netrc _netrc .npmrc .pypirc .pgpass .my.cnf .mylogin.cnf .vault-token .s3cfg .boto .dockercfg .authinfo .databrickscfg .xauthority
      .git-credentials .htpasswd .smbcredentials .msmtprc .mbsyncrc .fetchmailrc .offlineimaprc .getmailrc .muttrc .curlrc .wgetrc
      .sentryclirc .terraformrc .tfrc .iceauthority .claude.json .vault_pass .vault-password.txt .vaultpass rclone.conf auth.json pip.conf
      pip.ini gradle.properties kaggle.json ngrok.yml ngrok.yaml fish_variables nuget.config a.ovpn a.tfstate a.tfstate.backup a.tfvars
      .bash_history .x-y.history .histfile .hst fish_history consolehost_history.txt .viminfo main.shada credential credentials .credentials
      credentials.clj shadow gshadow shadow- sudoers
    `),
  )('is every file called %s', (name) => {
    for (const path of [`/srv/p/${name}`, `/${name}`]) expect([path, isPrivatePath(path)]).toEqual([path, true]);
  });

  it.each(
    words(`
      .env.example .env.sample .env.template .env.dist example.env.txt sample.env template.env dist.env example.env x.envs env.x env.localx
      a.pemx pem id_rsax xid_rsa ssh_host__keys key5.db xwallet.dat x.netrc x.npmrc npmrc .npmrcx rclone.confx xauth.json a.tfstate.x
      a.history history .viminfox a.shadax mycredentials credentials.cljx shadows xshadow sudoersx ngrok.yl pip.conf2 key34.db key.db
      ssh_host_key id_rsa. auth_json .env..x/y private.pub.txt
    `).filter((name) => !['id_rsa.', 'private.pub.txt', 'example.env.txt'].includes(name)),
  )('is not %s, by name', (name) => expect(isPrivatePath(`/srv/p/${name}`)).toBe(false));

  it.each(
    words(`
      credential creds secret secrets password passwords passphrase api_key api-keys apikey private_key service-account service_account_key service-accountkey privatekey auth-token idtoken
      serviceaccount token access_token api-token auth_token id_token oauth-token refresh_token authtoken
    `),
  )('is a data file whose name contains %s', (word) => {
    for (const name of [
      `${word}.json`,
      `a-${word}.yaml`,
      `a_${word}.x.toml`,
      `${word}-prod.txt`,
      `A.${word.toUpperCase()}.INI`,
    ])
      expect([name, isPrivatePath(`/srv/p/${name}`)]).toEqual([name, true]);
    for (const name of [`${word}.ts`, `${word}.json.ts`, `${word}.md`])
      expect([name, isPrivatePath(`/srv/p/${name}`)]).toEqual([name, /^private_?key/.test(word)]);
  });

  it('is not a data file whose name contains such a word as part of another', () => {
    for (const name of [
      'asecrets.json',
      'secretsa.json',
      'tokens.json',
      'xtoken.yaml',
      'secret',
      'a.secret',
      'token1.json',
    ])
      expect([name, isPrivatePath(`/srv/p/${name}`)]).toEqual([name, false]);
  });

  it.each(words('json jsonc yml yaml toml ini cfg conf config xml txt properties csv plist env bak old'))(
    'may be a data file that ends with .%s',
    (extension) => expect(isPrivatePath(`/srv/p/my-secret.${extension}`)).toBe(true),
  );

  it.each(
    words(`
      /etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/sudoers /etc/sudoers.d /etc/security/opasswd /etc/ssl/private
      /etc/pki/tls/private /etc/letsencrypt /etc/krb5.keytab /etc/docker/key.json /etc/NetworkManager/system-connections /etc/wireguard
      /etc/openvpn /etc/ipsec.secrets /etc/ipsec.d/private /etc/ppp/chap-secrets /etc/ppp/pap-secrets /etc/wpa_supplicant /etc/rancher
      /etc/kubernetes /run/secrets /var/run/secrets /var/spool/cron /var/mail /var/spool/mail /var/lib/docker /var/lib/kubelet /var/backups
      /var/db/dslocal /private/etc/master.passwd /private/var/db/dslocal
    `),
  )('is %s and everything below it', (place) => {
    expect([isPrivatePath(place), isPrivatePath(`${place}/a/b`)]).toEqual([true, true]);
    expect([isPrivatePath(`${place}x`), isPrivatePath(`/srv${place}/a`)]).toEqual([false, false]);
  });
});

describe('a settings file', () => {
  const FOLDERS = [
    '.config',
    '.local/share',
    '.local/state',
    '.cache',
    'Library/Application Support',
    'Library/Preferences',
  ];

  it.each(
    words(`
      credential.json my-creds secret.db passwd oauth.ini cookies token keys api_key apikeys.toml auth auth.yml session.json sessions login logins.xml
      account accounts.db wallet sso identity history hosts apps.json id.dat my.key.conf
    `),
  )('is private if it is called %s', (name) => {
    for (const folder of FOLDERS) {
      const path = `/srv/u/${folder}/tool/deep/er/${name}`;
      expect([path, isPrivatePath(path)]).toEqual([path, true]);
      for (const program of ['git', 'nvim', 'tool/node_modules', 'site-packages', 'htop', '.cargo'])
        expect([program, isPrivatePath(`/srv/u/${folder}/${program}/deep/er/${name}`)]).toEqual([
          program,
          isPrivatePath(`/srv/p/${name}`),
        ]);
    }
  });

  it.each(
    words(
      'secret.json.ts keyboard.json monkey.json turkeys author.json idea hostsfile.ts session.json.ts historyx.json tokens.ts mapid.json x.session.tsx',
    ),
  )('is not private if it is called %s', (name) =>
    expect(isPrivatePath(`/srv/u/.config/tool/deep/${name}`)).toBe(false),
  );

  it.each(
    words(
      'config settings cli profiles connections config.json settings.yml cli.toml hosts.xml profiles.ini connections.cfg config.conf',
    ),
  )('is private as the main settings file of a program: %s', (name) => {
    expect(isPrivatePath(`/srv/u/.config/tool/${name}`)).toBe(true);
    expect(isPrivatePath(`/srv/u/.config/nvim/${name}`)).toBe(false);
    if (!name.startsWith('hosts')) expect(isPrivatePath(`/srv/u/.config/tool/deep/${name}`)).toBe(false);
    expect(isPrivatePath(`/srv/u/.config/tool/x${name}`)).toBe(false);
    expect(isPrivatePath(`/srv/u/.config/tool/${name}.ts`)).toBe(false);
  });

  it('is private alone if it is one of those without a folder', () => {
    const inFolders = [
      'hub',
      '.yarnrc.yml',
      '.yarnrc.yaml',
      'xhub',
      'hubs',
      '.yarnrc.yamls',
      'x.yarnrc.yml',
      '.yarnrc',
      'hub/x',
    ];
    expect(inFolders.filter((name) => isPrivatePath(`/srv/u/.config/${name}`))).toEqual([
      'hub',
      '.yarnrc.yml',
      '.yarnrc.yaml',
    ]);
    expect(isPrivatePath('/home/ann/.yarnrc.yml')).toBe(true);
    expect(isPrivatePath('/srv/p/.yarnrc.yml')).toBe(false);
  });

  it('must be in a hidden folder of a home folder', () => {
    for (const home of ['/home/ann', '/Users/Ann', '/root', homedir()]) {
      expect([home, isPrivatePath(`${home}/.tool/config.json`)]).toEqual([home, true]);
      expect([home, isPrivatePath(`${home}/tool/config.json`)]).toEqual([home, false]);
    }
    for (const path of [
      '/srv/.tool/config.json',
      '/srv/home/ann/.tool/config.json',
      '/homes/ann/.tool/config.json',
      '/home/a/b/.tool/config.json',
    ])
      expect([path, isPrivatePath(path)]).toEqual([path, false]);
  });
});

describe('a place of the kernel', () => {
  it.each(
    words(`
      /proc/1/environ /proc/self/mem /proc/self/fd/3 /proc/1/root/etc /proc/1/cwd /proc/1/task/2/environ /proc/1/map_files/x /proc/kcore
      /proc/kmem /proc/sys /proc/sys/kernel/x /dev/tcp/h/1 /dev/sda /dev/nullx /dev/xnull /dev/shmx /dev/stdin2 /dev/mem
    `),
  )('is asked about: %s', (path) =>
    expect(reason(path)).toBe('it exposes the memory or environment of processes, or a device'),
  );
  it.each(
    words(`
      /proc/1/environs /proc/cpuinfo /proc/1/status /proc/sysx /x/proc/1/environ /proc/1/2/environ /proc/kcorex /proc/xkcore /dev /dev/shm/a /dev/null
      /dev/zero /dev/full /dev/random /dev/urandom /dev/stdin /dev/stdout /dev/stderr /x/dev/sda
    `),
  )('is not asked about: %s', (path) => expect(reason(path)).toBeNull());

  it.each(['null', 'zero', 'full', 'random', 'urandom', 'stdin', 'stdout', 'stderr'])(
    'is harmless: /dev/%s',
    (name) => {
      expect(isHarmlessDevice(`/dev/${name}`)).toBe(true);
      for (const path of [`/x/dev/${name}`, `/dev/${name}x`, `/dev/x${name}`])
        expect([path, isHarmlessDevice(path)]).toEqual([path, false]);
    },
  );
});

describe('the reason why a place is asked about', () => {
  it('is the first one that applies to any of its names', () => {
    const place = (absolute: string, real: string | null, own: readonly string[] = []) =>
      privateReason({ absolute, real }, own);
    expect(place('/p/a', null)).toBe('it is unclear where this path leads');
    expect(place('/p/a', '/p/.env')).toBe('it is a private place, where keys are kept');
    expect(place('/p/.env', '/p/a')).toBe('it is a private place, where keys are kept');
    expect(place('/p/a', '/own/b', ['/x', '/own'])).toBe("it is hi's own configuration or history");
    expect(place('/own/b', '/p/a', ['/own'])).toBe("it is hi's own configuration or history");
    expect(place('/owner/b', '/p/a', ['/own'])).toBeNull();
  });
});
