import { describeSecretsLoop } from '../fixture/loop/secrets-loop.ts';
import { theRelease } from './releases.ts';
import { startRealServer } from './real-server.ts';

const { release, venv } = theRelease();

describeSecretsLoop('custom secrets', () => startRealServer(release, venv));
