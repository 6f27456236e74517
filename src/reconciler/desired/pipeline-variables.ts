/**
 * The credentials that pipelines put into the environment of a job by themselves, by product. A `*` stands for any characters. What a user
 * adds to a pipeline as a secret of his own is not here, whatever its usual name.
 */
export const PIPELINE_VARIABLES = {
  'GitHub Actions': [
    'ACTIONS_*',
    'GITHUB_TOKEN',
    'NODE_AUTH_TOKEN',
    'GITHUB_ENTERPRISE_TOKEN',
    'GITHUB_CODESPACE_TOKEN',
    'GH_TOKEN',
    'GH_ENTERPRISE_TOKEN',
    'INPUT_*',
    'RUNNER_*',
    'CLOUDSDK_AUTH_ACCESS_TOKEN',
  ],
  'Gitea and Forgejo Actions': ['GITEA_TOKEN', 'FORGEJO_TOKEN'],
  // The job token is the password of the registry and of the dependency proxy, and part of the url of the repository.
  GitLab: [
    'CI_JOB_*',
    'CI_BUILD_TOKEN',
    'CI_BUILD_REPO',
    'CI_REGISTRY_PASSWORD',
    'CI_DEPENDENCY_PROXY_PASSWORD',
    'CI_REPOSITORY_URL',
    'CI_DEPLOY_PASSWORD',
    'CI_DEPLOY_TOKEN',
    'DOCKER_AUTH_CONFIG',
    'KUBE_TOKEN',
    'SIGSTORE_ID_TOKEN',
  ],
  'Azure Pipelines': [
    'SYSTEM_ACCESSTOKEN',
    'ENDPOINT_AUTH_*',
    'ENDPOINT_AUTH',
    'SECUREFILE_*',
    'VSS_NUGET_ACCESSTOKEN',
    'VSS_NUGET_EXTERNAL_FEED_ENDPOINTS',
    'AZP_TOKEN',
    'VSTS_TOKEN',
  ],
  CircleCI: ['CIRCLE_OIDC_TOKEN*', 'CIRCLE_INTERNAL_*'],
  'Bitbucket Pipelines': ['BITBUCKET_STEP_OIDC_TOKEN*', 'PIPELINES_JWT_TOKEN', 'BAMBOO_JWT_TOKEN'],
  Buildkite: [
    'BUILDKITE_AGENT_ACCESS_TOKEN',
    'BUILDKITE_AGENT_TOKEN',
    'BUILDKITE_OIDC_TOKEN*',
    'BUILDKITE_AGENT_JOB_API_TOKEN',
  ],
  Jenkins: ['JENKINS_SECRET', 'JENKINS_AGENT_SECRET'],
  'Drone and Woodpecker': [
    'DRONE_NETRC_*',
    'DRONE_RPC_SECRET',
    'CI_NETRC_*',
    'WOODPECKER_AGENT_SECRET',
  ],
  TeamCity: ['TEAMCITY_AUTH_*', 'SYSTEM_TEAMCITY_AUTH_*'],
  'AWS CodeBuild': ['AWS_CONTAINER_AUTHORIZATION_TOKEN'],
  Bitrise: [
    'BITRISE_BUILD_API_TOKEN',
    'BITRISE_BUILD_CACHE_AUTH_TOKEN',
    'BITRISEIO_ABCS_ACCESS_TOKEN',
    'BITRISEIO_BITRISE_SERVICES_ACCESS_TOKEN',
  ],
  Semaphore: ['SEMAPHORE_OIDC_TOKEN*', 'SEMAPHORE_ARTIFACT_TOKEN'],
  Cirrus: ['CIRRUS_OIDC_TOKEN*'],
  Vercel: ['VERCEL_OIDC_TOKEN*'],
  'Spacelift and env zero': ['SPACELIFT_OIDC_TOKEN*', 'ENV0_OIDC_TOKEN*'],
  Codefresh: ['CF_API_KEY', 'CF_ACCESS_TOKEN'],
  'HCP Terraform and Pulumi': [
    'TFC_WORKLOAD_IDENTITY_TOKEN*',
    'ATLAS_TOKEN',
    'PULUMI_ACCESS_TOKEN',
  ],
  Netlify: ['NETLIFY_PURGE_API_TOKEN', 'NETLIFY_FUNCTIONS_TOKEN', 'NETLIFY_BLOBS_CONTEXT'],
  'JetBrains Space': ['JB_SPACE_CLIENT_SECRET', 'JB_SPACE_CLIENT_TOKEN'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** Keys and programs of setpoint itself. */
const OWN = ['SETPOINT_WATCH_TOKEN', 'SETPOINT_STATE_KEY', 'SETPOINT_SECRET_COMMANDS'];

const FORBIDDEN = createGlobExpression([...Object.values(PIPELINE_VARIABLES).flat(), ...OWN]);

/** Matches names in any case: on Windows they are the same variable. */
function createGlobExpression(globs: readonly string[]): RegExp {
  return new RegExp(`^(?:${globs.map((glob) => glob.replaceAll('*', '.*')).join('|')})$`, 'i');
}

/** Variables of a pipeline and of setpoint itself, which a settings file can never read, whatever SETPOINT_ALLOWED_VARIABLES lists. */
export function isForbiddenVariable(name: string): boolean {
  return FORBIDDEN.test(name);
}

/** The name to suggest for a variable: with a prefix if no settings file can read the name itself. */
export function readableName(name: string): string {
  return isForbiddenVariable(name) ? `SETPOINT_${name}` : name;
}
