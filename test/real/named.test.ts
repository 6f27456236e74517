import { describeNamedLoop } from '../fixture/loop/named-loop.ts';
import { theRelease } from './releases.ts';
import { startRealServer } from './real-server.ts';

const { release, venv } = theRelease();

describeNamedLoop('named settings', () => startRealServer(release, venv));
