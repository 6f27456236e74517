/** The version of the Node that runs this. */
export const THIS_NODE = process.versions.node;
