"""One module per problem."""
