"""LTI 1.3: a platform tells the roster by Names and Roles, and takes marks by Assignment and Grade Services.

An instructor's launch in the platform, which `launching` verifies, tells the services' addresses. `asking` asks them,
`roster` and `marks` are the two uses, and `keeping` holds what lasts between commands.

Source: https://www.imsglobal.org/spec/lti/v1p3, https://www.imsglobal.org/spec/security/v1p0,
https://www.imsglobal.org/spec/lti-nrps/v2p0 and https://www.imsglobal.org/spec/lti-ags/v2p0.
"""

from autograder.common.errors import GraderError


class PlatformError(GraderError):
    """The platform cannot be used, or asked what is not right; the message says what to do."""
