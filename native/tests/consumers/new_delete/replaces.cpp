#include "tidepool/new_delete.hpp"
