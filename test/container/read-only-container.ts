import { GenericContainer } from 'testcontainers';

/** A container whose root file system nobody can write to, as `docker run --read-only` has it. */
export class ReadOnlyContainer extends GenericContainer {
  constructor(image: string) {
    super(image);
    this.hostConfig.ReadonlyRootfs = true;
  }
}
