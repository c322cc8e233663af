import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { isPrivatePath } from '../../../lib/permission/paths/private-places.js';

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** In the home folder: the places of the audit (security.md F1, D3), and more of their kind. */
const IN_HOME = words(`
  .ssh/id_ed25519 .ssh/config .aws/credentials .aws/config .azure/msal_token_cache.json .kube/config .docker/config.json
  .gnupg/private-keys-v1.d/x .password-store/x.gpg .netrc .npmrc .pypirc .pgpass .git-credentials .mozilla/firefox/x/logins.json
  .thunderbird/x .terraform.d/credentials.tfrc.json .vault-token .cargo/credentials.toml .cargo/credentials .config/gcloud/access_tokens.db
  .config/gh/hosts.yml .config/google-chrome/Default/Cookies .config/chromium/x .config/BraveSoftware/x .local/share/keyrings/login.keyring
  .bash_history .zsh_history .sh_history .python_history .psql_history .mysql_history .sqlite_history .rediscli_history .irb-history
  .config/rclone/rclone.conf .codex/auth.json .claude/.credentials.json .gem/credentials .config/containers/auth.json .my.cnf .mylogin.cnf
  .s3cfg .boto .databrickscfg .htpasswd .dockercfg .authinfo .authinfo.gpg .Xauthority .env other/.env other/id_rsa
  .m2/settings.xml .config/hub .config/github-copilot/hosts.json .config/github-copilot/apps.json .gemini/oauth_creds.json .claude.json
  .local/share/fish/fish_history .gradle/gradle.properties .config/glab-cli/config.yml .config/sops/age/keys.txt .terraformrc
  .config/io.datasette.llm/keys.json .ethereum/keystore/UTC--2024 .bitcoin/wallet.dat .config/solana/id.json .kaggle/kaggle.json
  .cache/huggingface/token .huggingface/token .netlify/config.json .config/netlify/config.json .config/stripe/config.toml
  .supabase/access-token .sentryclirc .yarnrc.yml .config/pip/pip.conf .pip/pip.conf .dbt/profiles.yml .snowflake/connections.toml
  .fly/config.yml .config/hcloud/cli.toml .oci/config .msmtprc .mbsyncrc .smbcredentials .ngrok2/ngrok.yml .config/ngrok/ngrok.yml
  .config/1Password/x .pki/nssdb/key4.db .viminfo .lesshst .node_repl_history .local/share/atuin/history.db
  .local/share/atuin/key .config/fish/fish_variables .config/doctl/config.yaml .railway/config.json .vercel/auth.json
  .local/share/com.vercel.cli/auth.json .composer/auth.json .nuget/NuGet/NuGet.Config .sbt/.credentials .lein/credentials.clj
  .config/op/config .wget-hsts.key .local/state/nvim/shada/main.shada .config/configstore/firebase-tools.json.token .mc/config.json
  .config/tool-of-tomorrow/access_token.json .config/tool-of-tomorrow/auth.toml .newtool/credentials.db .newtool/session.json
  .zsh_sessions/A.history .zhistory .local/share/powershell/PSReadLine/ConsoleHost_history.txt .Rhistory .duckdb_history
`).filter((name) => !name.startsWith('.config/configstore') && !name.startsWith('.wget-hsts'));

/** In any folder. */
const IN_PROJECT = words(`
  .env .env.local .env.production .envrc .dev.vars .dev.vars.production .flaskenv env.local prod.env deploy/staging.env .vault_pass .vault-password.txt
  service-account.json serviceAccountKey.json my-service-account-key.json client_secret.json client_secret_12.apps.googleusercontent.com.json
  token.json credentials.json credentials.yaml gcp-credentials.json secrets.json secrets.yml secrets.toml db-secrets.yaml
  server.key tls.pem store.p12 store.jks AuthKey_AB12.p8 id_rsa id_ed25519_work terraform.tfstate prod.tfvars .npmrc api_key.txt api-keys.json
  passwords.txt access_token.json private_key.json private-key.txt Company.KDBX Secrets.JSON
`);

const ORDINARY = words(`
  README.md src/secrets.ts src/token.ts src/tokens/index.ts src/password.py docs/credentials.md docs/secrets.html package.json tsconfig.json
  .env.example .env.sample sample.env .env.template tokens.json keys.json src/auth.ts auth.go .eslintrc.json .prettierrc .editorconfig .gitignore
  .github/workflows/ci.yml .vscode/settings.json config.json config.yml settings.json Makefile Dockerfile history.ts history.md hosts.txt
  src/keyboard.ts login.tsx public/cookie.png test/fixtures/session.json .nvmrc .node-version Cargo.toml go.sum id.ts wallet.ts
  author.json secretary.txt tokenizer.json environment.ts keymap.json
`);

const ORDINARY_IN_HOME = words(`
  .config/nvim/init.lua .config/git/config .gitconfig .cargo/config.toml .rustup/settings.toml .config/htop/htoprc notes.txt
  .local/share/applications/x.desktop .config/user-dirs.dirs .nvm/alias/default .config/Code/User/keybindings.json .cache/pip/http/a/b .bashrc
`);

describe('the table of private places', () => {
  it.each(IN_HOME)('contains ~/%s', (name) => {
    for (const home of [homedir(), '/home/somebody', '/Users/somebody'])
      expect([home, isPrivatePath(join(home, name))]).toEqual([home, true]);
  });

  it.each(IN_PROJECT)('contains %s in any folder', (name) => {
    expect(isPrivatePath(join('/srv/project', name))).toBe(true);
  });

  it('contains the places of the system', () => {
    for (const path of [
      '/etc/shadow',
      '/etc/gshadow-',
      '/etc/ssh/ssh_host_rsa_key',
      '/etc/ssl/private/x',
      '/run/secrets/db',
      '/etc/sudoers',
    ])
      expect([path, isPrivatePath(path)]).toEqual([path, true]);
  });

  it('does not contain ordinary files', () => {
    expect(ORDINARY.filter((name) => isPrivatePath(join('/srv/project', name)))).toEqual([]);
    expect(ORDINARY_IN_HOME.filter((name) => isPrivatePath(join(homedir(), name)))).toEqual([]);
  });

  it('ignores case, like some file systems', () => {
    expect(isPrivatePath('/Users/a/.SSH/x')).toBe(true);
    expect(isPrivatePath('/srv/.ENV')).toBe(true);
  });
});
